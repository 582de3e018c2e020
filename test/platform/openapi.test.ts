import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KnownIds, sendDrawn } from './drawn-requests.ts';
import { file } from './endpoints/agent-double.ts';
import { enrol } from './endpoints/http-agent.ts';
import { addDeadLetter, addPerson } from './rows-by-hand.ts';
import { fill, type Service, startService } from './service.ts';

const TRAPS = '//traps/api/v1';
const BUG = { credential_type: 'web_bug', plant_location: 'wiki' };
const HOOK = { kind: 'webhook', name: 'x', target: 'http://127.0.0.1:1/' };

let service: Service;
let known: KnownIds;
beforeAll(async () => {
  service = await startService({ rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 1e6 } });
  for (const stream of ['s', 'a/b']) await fill(service, stream, 3);
  const { package_id } = (await service.call('POST', '/evidence/generate', { stream_id: 's' })).body;
  const keys = [];
  for (const name of 'abcd') keys.push((await service.call('POST', '//keys/', { name, scopes: ['audit:read'] })).body);
  const { verification_id } = (await service.call('POST', '/streams/s/verify')).body;
  const traps = [];
  // Enough of what requests end for good.
  for (let label = 0; label < 30; label++)
    traps.push((await service.call('POST', `${TRAPS}/credentials/generate`, { ...BUG, label: `${label}` })).body);
  const invitations = [];
  for (const name of 'abcd')
    invitations.push(
      (await service.call('POST', '//people/invitations', { email: `${name}@example.com`, role: 'auditor' })).body,
    );
  await fetch(traps[0].credential.url);
  const [{ detection_id }] = (await service.call('GET', `${TRAPS}/detections/`)).body.data;
  const channels = [];
  for (const name of 'abcdefgh')
    channels.push((await service.call('POST', '//alerts/channels/', { ...HOOK, name })).body);
  const endpoints = await makeEndpoints();
  known = {
    ...endpoints,
    stream_id: ['s', 'a/b'],
    package_id: [package_id],
    verification_id: [verification_id],
    key_id: keys.map(({ key_id }) => key_id),
    person_id: (['owner', 'owner', 'operator', 'auditor'] as const).map((role) => addPerson(service, role)),
    link_id: invitations.map(({ link_id }) => link_id),
    message_id: [addDeadLetter(service)],
    credential_id: traps.map(({ credential_id }) => credential_id),
    detection_id: [detection_id],
    alert_channel_id: channels.map(({ alert_channel_id }) => alert_channel_id),
    target: [HOOK.target],
  };
});
afterAll(() => service.close());

/** Endpoints with what requests end for good. */
async function makeEndpoints() {
  const agent = await enrol(service);
  const register = { endpoint_id: agent.id, name: 'nothing', roots: ['/usr/bin'], lines: [], complete: true };
  await service.call('POST', '//endpoints/baselines/register', register);
  await agent.report([file('/usr/bin/tool')]);
  const [event] = (await service.call('GET', '//endpoints/events/')).body.data;
  const proposals = [];
  for (let name = 0; name < 30; name++) {
    const wish = { from: 'latest_scan', name: `${name}`, reason: 'x' };
    proposals.push((await service.call('POST', `//endpoints/hosts/${agent.id}/baselines`, wish)).body);
  }
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const window = { all: true, until, reason: 'x' };
  const { window_id } = (await service.call('POST', '//endpoints/change-windows/', window)).body;
  return {
    ...{ endpoint_id: [agent.id], event_id: [event.event_id], change_id: [event.change_id], window_id: [window_id] },
    ...{ roots: ['/usr/bin'], other_filesystems: ['/srv'] },
    baseline_id: proposals.map(({ baseline_id }) => baseline_id),
  };
}

describe.each(['audit', 'traps', 'endpoints', 'alerts', 'keys', 'people', 'administration'])(
  'the document of %s',
  (name) => {
    const read = async () =>
      (await service.call('GET', `//${name}/openapi.json`, undefined, { authorization: '' })).body;

    test('is valid', async () => {
      expect(await new Validator().validate(await read())).toMatchObject({ valid: true });
    });

    test('names every operation, what it is of, its scope, and each failure of all routes', async () => {
      const { paths } = await read();
      const operations = Object.values<Record<string, Operation>>(paths).flatMap((methods) => Object.values(methods));
      const ids = operations.map(({ operationId }) => operationId);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { operationId, tags, security, responses } of operations) {
        expect(operationId).toMatch(/^[a-z][A-Za-z]+$/);
        expect(tags).toHaveLength(1);
        expect(security).toEqual([
          { key: [expect.stringMatching(new RegExp(`^${name}:(read|write|export|report)$`))] },
        ]);
        expect(Object.keys(responses)).toEqual(
          expect.arrayContaining(['400', '401', '403', '408', '415', '429', '431', '500', '503']),
        );
      }
    });

    test('describes the API key', async () => {
      const { components } = await read();
      expect(components.securitySchemes.key).toMatchObject({
        type: 'http',
        scheme: 'bearer',
        description: expect.stringContaining('evidence-platform'),
      });
    });
  },
);

interface Operation {
  operationId: string;
  tags: string[];
  security: unknown;
  responses: object;
}

test('metadata of a new entry is an object', async () => {
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  const { schema } = paths['/entries/'].post.requestBody.content['application/json'];
  expect(schema.properties.metadata).toMatchObject({ type: 'object', additionalProperties: true });
  expect(schema.required).not.toContain('metadata');
});

test('3,000 requests drawn from the documents are answered as these say', async () => {
  const statuses = await sendDrawn(service, { requests: 3000, seed: 20261123, known });
  // It needs a type and its decoy at once: the tests of traps hold it.
  statuses.delete('generateTrap');
  // These need a key of AWS, the settings of one, or what AWS logs.
  for (const operation of ['importTrap', 'provisionTrap', 'reportCloudTrail']) statuses.delete(operation);
  // The token of an agent is bound to its endpoint; drawn times are years away, and drawn paths not absolute.
  for (const operation of ['getAgentSettings', 'bindAgentKey', 'reportScan', 'openChangeWindow', 'enrollEndpoint'])
    statuses.delete(operation);
  for (const [operation, seen] of statuses)
    expect([operation, [...seen].some((status) => status < 300)]).toEqual([operation, true]);
});

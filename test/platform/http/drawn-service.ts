import { newAwsId } from '../../../src/platform/traps/aws/access-key.ts';
import { DECOY_KINDS } from '../../../src/platform/traps/decoys/decoy.ts';
import { NEW_ACTION, NEW_AGENT } from '../agents/operations.ts';
import { enrol } from '../endpoints/http-sensor.ts';
import { file } from '../endpoints/sensor-double.ts';
import { addDeadLetter, addPerson, addSignUp } from '../rows-by-hand.ts';
import { fill, type Service, type startService } from '../service.ts';
import { settingsOf } from '../traps/decoy-places.ts';
import { IamDouble } from '../traps/iam-double.ts';
import type { KnownIds } from './drawn-requests.ts';

const TRAPS = '//traps/api/v1';
const BUG = { credential_type: 'web_bug', plant_location: 'wiki' };
const HOOK = { kind: 'webhook', name: 'x', target: 'http://127.0.0.1:1/' };
const STREAMS = ['s', 'a/b'];
const ROLES = ['owner', 'owner', 'operator', 'auditor'] as const;
/** Number of traps, so that some remain after requests have ended others. */
const TRAP_COUNT = 30;
const USED = 10;

/** A platform with records of every kind, so that each documented operation can succeed. */
export interface DrawnService {
  service: Service;
  known: KnownIds;
  close(): Promise<void>;
}

export async function startDrawn(start: typeof startService): Promise<DrawnService> {
  const iam = await new IamDouble().start();
  const service = await start({
    outgoingHosts: ['127.0.0.1:1'],
    rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 1e6 },
    decoys: DECOY_KINDS.map((kind) => settingsOf({ kind })),
    aws: { iam: { ...iam.access, endpoint: iam.endpoint }, trail: null },
  });
  return {
    service,
    known: {
      q: ['read', 'user'],
      metadata: ['name:value'],
      ...(await ofAudit(service)),
      ...(await ofPeople(service)),
      ...(await ofTraps(service)),
      ...(await ofEndpoints(service)),
      ...(await ofAgents(service)),
    },
    async close() {
      await service.close();
      await iam.stop();
    },
  };
}

/**
 * Operations that drawn requests cannot succeed with: agents' tokens are bound to endpoints, drawn times are years
 * away, drawn paths and lines do not exist, and keys cannot approve baselines.
 */
export const CANNOT_SUCCEED: readonly string[] = [
  'getSensorSettings',
  'bindSensorKey',
  'reportScan',
  'openChangeWindow',
  'enrollEndpoint',
  'registerBaseline',
  'approveBaseline',
  'plantBait',
  'confirmBait',
  'reportBaitStanding',
  'reportBaitReads',
];

/** @returns the operations that no drawn request succeeded with, except for those. */
export function neverSucceeded(statuses: ReadonlyMap<string, ReadonlySet<number>>): string[] {
  const without = [...statuses].filter(([, seen]) => ![...seen].some((status) => status < 300));
  return without.map(([operation]) => operation).filter((operation) => !CANNOT_SUCCEED.includes(operation));
}

/** Sends a request once for each body, and returns the answers. */
async function makeEach(service: Service, path: string, bodies: readonly object[]) {
  const made = [];
  for (const each of bodies) {
    const { status, text, body } = await service.call('POST', path, each);
    if (status >= 300) throw new Error(text);
    made.push(body);
  }
  return made;
}

async function ofAudit(service: Service): Promise<KnownIds> {
  for (const stream of STREAMS) await fill(service, stream, 3);
  const [{ package_id }] = await makeEach(service, '/evidence/generate', [{ stream_id: 's' }]);
  const { verification_id } = (await service.call('POST', '/streams/s/verify')).body;
  return { stream_id: STREAMS, package_id: [package_id], verification_id: [verification_id] };
}

async function ofPeople(service: Service): Promise<KnownIds> {
  const names = Array.from({ length: 30 }, (_, at) => `n${at}`);
  const keys = await makeEach(
    service,
    '//keys/',
    names.map((name) => ({ name, scopes: ['audit:read'] })),
  );
  const invitations = await makeEach(
    service,
    '//people/invitations',
    names.map((name) => ({ email: `${name}@example.com`, role: 'auditor' })),
  );
  return {
    key_id: keys.map(({ key_id }) => key_id),
    person_id: await Promise.all(ROLES.map((role) => addPerson(service, role))),
    link_id: invitations.map(({ link_id }) => link_id),
    sign_up_id: await Promise.all(names.map(() => addSignUp(service))),
    message_id: [await addDeadLetter(service)],
  };
}

async function ofEndpoints(service: Service): Promise<KnownIds> {
  const agent = await enrol(service);
  const register = { endpoint_id: agent.id, name: 'nothing', roots: ['/usr/bin'], lines: [], complete: true };
  await makeEach(service, '//endpoints/baselines/register', [register]);
  await agent.report([file('/usr/bin/tool')]);
  const [event] = (await service.call('GET', '//endpoints/events/')).body.data;
  const input = Array.from({ length: 30 }, (_, at) => ({ from: 'latest_scan', name: `${at}`, reason: 'x' }));
  const proposals = await makeEach(service, `//endpoints/hosts/${agent.id}/baselines`, input);
  const bait = { credential_type: 'aws_key', path: '/home/x', label: 'x' };
  const [{ bait_id }] = await makeEach(service, `//endpoints/hosts/${agent.id}/bait`, [bait]);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const [window] = await makeEach(service, '//endpoints/change-windows/', [{ all: true, until, reason: 'x' }]);
  return {
    endpoint_id: [agent.id],
    event_id: [event.event_id],
    change_id: [event.change_id],
    bait_id: [bait_id],
    window_id: [window.window_id],
    baseline_id: proposals.map(({ baseline_id }) => baseline_id),
  };
}

const AGENTS = '//agents/api/v1/agents';
/** Number of secrets, so that some remain after requests have removed others. */
const SECRETS = ['a', 'b', 'c', 'd'];

async function ofAgents(service: Service): Promise<KnownIds> {
  const agents = await makeEach(
    service,
    AGENTS,
    Array.from({ length: 12 }, () => NEW_AGENT),
  );
  const ids: string[] = agents.map(({ agent_id }) => agent_id);
  for (const id of ids.slice(0, 8)) await makeEach(service, `${AGENTS}/${id}/onboard`, [{}]);
  const [first = '', second = ''] = ids;
  const actions = await makeEach(service, `${AGENTS}/${first}/actions`, [NEW_ACTION, NEW_ACTION]);
  const [decoy] = await makeEach(service, `${AGENTS}/${first}/vault/decoys`, [{ kind: 'tool', name: 'a-decoy' }]);
  for (const id of ids.slice(0, 8))
    for (const name of SECRETS) await service.call('PUT', `${AGENTS}/${id}/vault/secrets/${name}`, { value: 'x' });
  const [kill] = await makeEach(service, `${AGENTS}/${second}/kill-switch`, [{ mode: 'suspend', reason: 'x' }]);
  const subscribers = await makeEach(
    service,
    '//agents/api/v1/subscribers',
    [...'abcd'].map((audience) => ({ url: 'https://rp.example/events', audience })),
  );
  return {
    agent_id: ids,
    action_id: actions.map(({ action_id }) => action_id),
    decoy_id: [decoy.decoy_id],
    kill_id: [kill.kill_id],
    subscriber_id: subscribers.map(({ subscriber_id }) => subscriber_id),
    parent_agent_id: [first],
    version: ['1.0'],
    tool_used: ['t', 'a-decoy'],
    name: SECRETS,
    allowed_apis: ['api.example.com'],
    prompt_sha256: ['a'.repeat(64)],
    file: ['ecdsa', 'ml-dsa-65'],
    url: ['https://rp.example/events'],
  };
}

async function ofTraps(service: Service): Promise<KnownIds> {
  const labels = Array.from({ length: TRAP_COUNT }, (_, at) => ({ ...BUG, label: `${at}` }));
  const traps = await makeEach(service, `${TRAPS}/credentials/generate`, labels);
  for (const { credential } of traps.slice(0, USED))
    await fetch(new URL(`/traps/t/${credential.token}.gif`, service.origin));
  const detections = (await service.call('GET', `${TRAPS}/detections/`)).body.data;
  const channels = await makeEach(
    service,
    '//alerts/channels/',
    [...'abcdefgh'].map((name) => ({ ...HOOK, name })),
  );
  return {
    credential_id: traps.map(({ credential_id }) => credential_id),
    detection_id: detections.map((each: { detection_id: string }) => each.detection_id),
    alert_channel_id: channels.map(({ alert_channel_id }) => alert_channel_id),
    target: [HOOK.target],
    // Ids of keys that are still free.
    access_key_id: Array.from({ length: TRAP_COUNT }, () => newAwsId('AKIA', '111122223333')),
    secret_access_key: ['s'.repeat(40)],
    user_name: ['backup-prod', 'deploy'],
    decoy: DECOY_KINDS,
  };
}

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopesOfRole } from '../../src/platform/accounts/roles.ts';
import { SCOPES, type Scope } from '../../src/platform/scopes.ts';
import { newAwsId } from '../../src/platform/traps/aws/access-key.ts';
import { someRows } from '../support/some-rows.ts';
import { AGENT_OPERATIONS, OperatedAgents } from './agents/operations.ts';
import { enrol, type HttpSensor } from './endpoints/http-sensor.ts';
import { file as fileLine, partOf } from './endpoints/sensor-double.ts';
import { addDeadLetter, addPerson, addSignUp } from './rows-by-hand.ts';
import { entry, fill, type Service, startService } from './service.ts';
import { settingsOf } from './traps/decoy-places.ts';
import { IamDouble } from './traps/iam-double.ts';

interface Operation {
  operation: string;
  needed: Scope;
  /** Further scopes of the key: a key can only grant scopes that it has. */
  given?: readonly Scope[];
  path: string;
  body?: () => unknown;
  /** True for operations of an endpoint's agent, whose token is bound to the endpoint. */
  ofAgent?: true;
}

const PLANTING = { plant_location: 'ci', label: 'x' };
const BUG = { credential_type: 'web_bug', plant_location: 'wiki', label: 'x' };
const TOOLS = [fileLine('/usr/bin/tool')];
const HOOK = { kind: 'webhook', name: 'x', target: 'http://127.0.0.1:1/' };

/** Every operation, with the scope that it needs and a request that succeeds. */
const OPERATIONS: readonly Operation[] = [
  { operation: 'POST /audit/entries/', needed: 'audit:write', path: '/entries/', body: () => entry('s', 9) },
  {
    operation: 'POST /audit/entries/batch',
    needed: 'audit:write',
    path: '/entries/batch',
    body: () => ({ entries: [entry('s', 9)] }),
  },
  { operation: 'GET /audit/entries/', needed: 'audit:read', path: '/entries/' },
  { operation: 'GET /audit/stats/', needed: 'audit:read', path: '/stats/' },
  { operation: 'GET /audit/stats/activity', needed: 'audit:read', path: '/stats/activity' },
  { operation: 'GET /audit/streams/{stream_id}/packages', needed: 'audit:read', path: '/streams/s/packages' },
  { operation: 'GET /audit/streams/', needed: 'audit:read', path: '/streams/' },
  { operation: 'GET /audit/streams/{stream_id}', needed: 'audit:read', path: '/streams/s' },
  { operation: 'POST /audit/streams/{stream_id}/verify', needed: 'audit:read', path: '/streams/s/verify' },
  { operation: 'GET /audit/streams/{stream_id}/verifications', needed: 'audit:read', path: '/streams/s/verifications' },
  { operation: 'GET /audit/verifications/{verification_id}', needed: 'audit:read', path: '/verifications/CHECK' },
  { operation: 'GET /audit/streams/{stream_id}/checkpoints', needed: 'audit:read', path: '/streams/s/checkpoints' },
  { operation: 'POST /audit/streams/{stream_id}/checkpoints', needed: 'audit:write', path: '/streams/s/checkpoints' },
  {
    operation: 'POST /audit/evidence/generate',
    needed: 'audit:export',
    path: '/evidence/generate',
    body: () => ({ stream_id: 's' }),
  },
  { operation: 'GET /audit/evidence/{package_id}', needed: 'audit:read', path: '/evidence/PACKAGE' },
  { operation: 'GET /audit/evidence/{package_id}/json', needed: 'audit:read', path: '/evidence/PACKAGE/json' },
  { operation: 'GET /audit/evidence/{package_id}/pdf', needed: 'audit:read', path: '/evidence/PACKAGE/pdf' },
  { operation: 'GET /audit/evidence/{package_id}/summary', needed: 'audit:read', path: '/evidence/PACKAGE/summary' },
  {
    operation: 'POST /traps/api/v1/credentials/generate',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/generate',
    body: () => BUG,
  },
  {
    operation: 'POST /traps/api/v1/credentials/import',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/import',
    body: () => ({ ...PLANTING, access_key_id: newAwsId('AKIA', '111122223333') }),
  },
  {
    operation: 'POST /traps/api/v1/credentials/provision',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/provision',
    body: () => PLANTING,
  },
  {
    operation: 'POST /traps/api/v1/events/cloudtrail',
    needed: 'traps:report',
    path: '//traps/api/v1/events/cloudtrail',
    body: () => ({ Records: [] }),
  },
  { operation: 'GET /traps/api/v1/credentials/', needed: 'traps:read', path: '//traps/api/v1/credentials/' },
  {
    operation: 'GET /traps/api/v1/credentials/{credential_id}',
    needed: 'traps:read',
    path: '//traps/api/v1/credentials/TRAP',
  },
  {
    operation: 'GET /traps/api/v1/credentials/{credential_id}/realism',
    needed: 'traps:read',
    path: '//traps/api/v1/credentials/TRAP/realism',
  },
  {
    operation: 'POST /traps/api/v1/credentials/{credential_id}/confirm',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/TRAP/confirm',
  },
  {
    operation: 'POST /traps/api/v1/credentials/{credential_id}/test',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/TRAP/test',
  },
  {
    operation: 'POST /traps/api/v1/credentials/{credential_id}/rotate',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/TRAP/rotate',
  },
  {
    operation: 'POST /traps/api/v1/credentials/{credential_id}/revoke',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/TRAP/revoke',
  },
  {
    operation: 'POST /traps/api/v1/credentials/{credential_id}/reset',
    needed: 'traps:write',
    path: '//traps/api/v1/credentials/TRAP/reset',
  },
  { operation: 'GET /traps/api/v1/detections/', needed: 'traps:read', path: '//traps/api/v1/detections/' },
  { operation: 'GET /traps/api/v1/stats/', needed: 'traps:read', path: '//traps/api/v1/stats/' },
  {
    operation: 'GET /traps/api/v1/detections/{detection_id}',
    needed: 'traps:read',
    path: '//traps/api/v1/detections/DETECTION',
  },
  {
    operation: 'POST /traps/api/v1/detections/{detection_id}/status',
    needed: 'traps:write',
    path: '//traps/api/v1/detections/DETECTION/status',
    body: () => ({ status: 'acknowledged' }),
  },
  { operation: 'GET /alerts/channels/', needed: 'alerts:read', path: '//alerts/channels/' },
  {
    operation: 'POST /alerts/channels/',
    needed: 'alerts:write',
    path: '//alerts/channels/',
    body: () => HOOK,
  },
  {
    operation: 'POST /alerts/channels/{alert_channel_id}/test',
    needed: 'alerts:write',
    path: '//alerts/channels/HOOK/test',
  },
  {
    operation: 'DELETE /alerts/channels/{alert_channel_id}',
    needed: 'alerts:write',
    path: '//alerts/channels/HOOK',
  },
  { operation: 'GET /keys/', needed: 'keys:read', path: '//keys/' },
  {
    operation: 'POST /keys/',
    needed: 'keys:write',
    path: '//keys/',
    body: () => ({ name: 'x', scopes: ['keys:write'] }),
  },
  { operation: 'POST /keys/{key_id}/rotate', needed: 'keys:write', path: '//keys/KEY/rotate', body: () => ({}) },
  { operation: 'POST /keys/{key_id}/revoke', needed: 'keys:write', path: '//keys/KEY/revoke' },
  { operation: 'POST /keys/makers/{person_id}/revoke', needed: 'keys:write', path: '//keys/makers/PERSON/revoke' },
  { operation: 'GET /people/', needed: 'people:read', path: '//people/' },
  {
    operation: 'POST /people/invitations',
    needed: 'people:write',
    given: scopesOfRole('auditor'),
    path: '//people/invitations',
    body: newInvitation,
  },
  { operation: 'GET /people/invitations', needed: 'people:read', path: '//people/invitations' },
  {
    operation: 'POST /people/invitations/{link_id}/withdraw',
    needed: 'people:write',
    path: '//people/invitations/LINK/withdraw',
  },
  {
    operation: 'POST /people/invitations/{link_id}/send-again',
    needed: 'people:write',
    given: scopesOfRole('auditor'),
    path: '//people/invitations/LINK/send-again',
  },
  { operation: 'GET /people/sign-ups', needed: 'people:read', path: '//people/sign-ups' },
  {
    operation: 'POST /people/sign-ups/{sign_up_id}/approve',
    needed: 'people:write',
    given: scopesOfRole('auditor'),
    path: '//people/sign-ups/WAITING/approve',
  },
  {
    operation: 'POST /people/sign-ups/{sign_up_id}/decline',
    needed: 'people:write',
    path: '//people/sign-ups/WAITING/decline',
  },
  {
    operation: 'POST /people/{person_id}/role',
    needed: 'people:write',
    given: scopesOfRole('auditor'),
    path: '//people/PERSON/role',
    body: () => ({ role: 'auditor' }),
  },
  { operation: 'POST /people/{person_id}/disable', needed: 'people:write', path: '//people/PERSON/disable' },
  {
    operation: 'POST /people/{person_id}/enable',
    needed: 'people:write',
    given: scopesOfRole('auditor'),
    path: '//people/PERSON/enable',
  },
  {
    operation: 'POST /people/{person_id}/remove-second-factor',
    needed: 'people:write',
    given: scopesOfRole('auditor'),
    path: '//people/PERSON/remove-second-factor',
  },
  {
    operation: 'POST /endpoints/enroll',
    needed: 'endpoints:write',
    path: '//endpoints/enroll',
    body: () => ({ name: 'x' }),
  },
  { operation: 'GET /endpoints/hosts/', needed: 'endpoints:read', path: '//endpoints/hosts/' },
  { operation: 'GET /endpoints/hosts/{endpoint_id}', needed: 'endpoints:read', path: '//endpoints/hosts/ENDPOINT' },
  ...(['isolate', 'release'] as const).map((act) => ({
    operation: `POST /endpoints/hosts/{endpoint_id}/${act}`,
    needed: 'endpoints:write' as const,
    path: `//endpoints/hosts/ENDPOINT/${act}`,
    body: () => ({ reason: 'x' }),
  })),
  {
    operation: 'POST /endpoints/hosts/{endpoint_id}/retire',
    needed: 'endpoints:write',
    path: '//endpoints/hosts/LEAVING/retire',
    body: () => ({ reason: 'x' }),
  },
  {
    operation: 'POST /endpoints/hosts/{endpoint_id}/restart',
    needed: 'endpoints:write',
    path: '//endpoints/hosts/OTHER/restart',
    body: () => ({ reason: 'x' }),
  },
  {
    operation: 'POST /endpoints/hosts/{endpoint_id}/verify',
    needed: 'endpoints:read',
    path: '//endpoints/hosts/ENDPOINT/verify',
  },
  {
    operation: 'POST /endpoints/hosts/{endpoint_id}/bait',
    needed: 'endpoints:write',
    given: ['traps:write'],
    path: '//endpoints/hosts/ENDPOINT/bait',
    body: () => ({ credential_type: 'aws_key', path: `/home/x/${baited++}`, label: 'x' }),
  },
  {
    operation: 'GET /endpoints/hosts/{endpoint_id}/bait',
    needed: 'endpoints:read',
    path: '//endpoints/hosts/ENDPOINT/bait',
  },
  {
    operation: 'DELETE /endpoints/hosts/{endpoint_id}/bait/{bait_id}',
    needed: 'endpoints:write',
    given: ['traps:write'],
    path: '//endpoints/hosts/ENDPOINT/bait/BAIT',
  },
  ...(
    [
      ['{bait_id}/planted', { planted: true, seen_by: [] }],
      ['{bait_id}/standing', { standing: 'removed', reason: 'x' }],
      ['reads', { reads: [{ bait_id: 'x', read_at: '2026-01-01T00:00:00Z', seen: 'atime', event: 'x' }] }],
    ] as const
  ).map(([act, body]) => ({
    operation: `POST /endpoints/sensor/bait/${act}`,
    needed: 'endpoints:report' as const,
    path: `//endpoints/sensor/bait/${act.replace('{bait_id}', 'BAIT')}`,
    ofAgent: true as const,
    body: () => body,
  })),
  { operation: 'GET /endpoints/packages/', needed: 'endpoints:read', path: '//endpoints/packages/' },
  { operation: 'GET /endpoints/scans/', needed: 'endpoints:read', path: '//endpoints/scans/' },
  { operation: 'GET /endpoints/stats/', needed: 'endpoints:read', path: '//endpoints/stats/' },
  {
    operation: 'GET /endpoints/sensor/settings',
    needed: 'endpoints:report',
    path: '//endpoints/sensor/settings',
    ofAgent: true,
  },
  {
    operation: 'POST /endpoints/sensor/key',
    needed: 'endpoints:report',
    path: '//endpoints/sensor/key',
    ofAgent: true,
    body: () => ({ public_key: endpoint.sensor.publicKey, proof: 'x' }),
  },
  {
    operation: 'POST /endpoints/scans/report',
    needed: 'endpoints:report',
    path: '//endpoints/scans/report',
    ofAgent: true,
    body: async () => partOf(await endpoint.made(TOOLS)),
  },
  {
    operation: 'POST /endpoints/baselines/register',
    needed: 'endpoints:write',
    path: '//endpoints/baselines/register',
    body: () => ({ endpoint_id: other.id, name: 'x', roots: ['/usr/bin'], lines: [], complete: true }),
  },
  {
    operation: 'POST /endpoints/hosts/{endpoint_id}/baselines',
    needed: 'endpoints:write',
    path: '//endpoints/hosts/ENDPOINT/baselines',
    body: newProposal,
  },
  ...(['approve', 'reject'] as const).map((act) => ({
    operation: `POST /endpoints/baselines/{baseline_id}/${act}`,
    needed: 'endpoints:write' as const,
    path: `//endpoints/baselines/BASELINE/${act}`,
    body: () => ({ reason: 'x' }),
  })),
  { operation: 'GET /endpoints/baselines/', needed: 'endpoints:read', path: '//endpoints/baselines/' },
  {
    operation: 'GET /endpoints/baselines/{baseline_id}',
    needed: 'endpoints:read',
    path: '//endpoints/baselines/BASELINE',
  },
  {
    operation: 'GET /endpoints/baselines/{baseline_id}/difference',
    needed: 'endpoints:read',
    path: '//endpoints/baselines/BASELINE/difference',
  },
  { operation: 'GET /endpoints/events/', needed: 'endpoints:read', path: '//endpoints/events/' },
  { operation: 'GET /endpoints/events/{event_id}', needed: 'endpoints:read', path: '//endpoints/events/EVENT' },
  ...(['acknowledge', 'reopen'] as const).map((act) => ({
    operation: `POST /endpoints/events/{event_id}/${act}`,
    needed: 'endpoints:write' as const,
    path: `//endpoints/events/EVENT/${act}`,
  })),
  { operation: 'GET /endpoints/changes/', needed: 'endpoints:read', path: '//endpoints/changes/' },
  { operation: 'GET /endpoints/changes/{change_id}', needed: 'endpoints:read', path: '//endpoints/changes/CHANGE' },
  {
    operation: 'POST /endpoints/changes/{change_id}/approve',
    needed: 'endpoints:write',
    path: '//endpoints/changes/CHANGE/approve',
    body: () => ({ reason: 'x' }),
  },
  {
    operation: 'POST /endpoints/change-windows/',
    needed: 'endpoints:write',
    path: '//endpoints/change-windows/',
    body: newWindow,
  },
  { operation: 'GET /endpoints/change-windows/', needed: 'endpoints:read', path: '//endpoints/change-windows/' },
  {
    operation: 'GET /endpoints/change-windows/{window_id}',
    needed: 'endpoints:read',
    path: '//endpoints/change-windows/WINDOW',
  },
  ...(['approve', 'reopen'] as const).map((act) => ({
    operation: `POST /endpoints/change-windows/{window_id}/${act}`,
    needed: 'endpoints:write' as const,
    path: `//endpoints/change-windows/WINDOW/${act}`,
    body: () => ({ reason: 'x' }),
  })),
  ...AGENT_OPERATIONS,
  { operation: 'GET /administration/acts', needed: 'administration:read', path: '//administration/acts' },
  {
    operation: 'GET /administration/dead-letters',
    needed: 'administration:read',
    path: '//administration/dead-letters',
  },
  {
    operation: 'POST /administration/dead-letters/{message_id}/replay',
    needed: 'administration:write',
    path: '//administration/dead-letters/MESSAGE/replay',
  },
];

/** Everything in the database except checks, which Verify adds, and times of key use. */
const WRITTEN = [
  ...['entries', 'checkpoints', 'keyed_results', 'people', 'links', 'traps', 'alerting_channels'].map(
    (table) => `SELECT * FROM ${table}`,
  ),
  ...[
    'endpoints',
    'endpoint_scans',
    'baselines',
    'endpoint_events',
    'endpoint_bait',
    'endpoint_changes',
    'change_windows',
    'agents',
    'agent_identities',
    'agent_actions',
    'agent_outcomes',
    'agent_kills',
    'agent_subscribers',
    'agent_secrets',
    'agent_decoys',
  ].map((table) => `SELECT * FROM ${table}`),
  'SELECT package_id FROM packages',
  'SELECT key_id, expires_at, revoked_at FROM api_keys',
  'SELECT detection_id, status, acknowledged_by FROM detections',
  "SELECT message_id FROM outbox WHERE status = 'dead' AND kind = 'pigeon'",
];

let invited = 0;
let baited = 0;
let baitId: string;

const iam = new IamDouble();
let service: Service;
/** Database of the platform, read in this process: a separate program would start hundreds of times. */
let file: DatabaseSync;
let packageId: string;
let checkId: string;
const keys = new Map<Scope, string>();
let ofAuditor: string;
let ofExporter: string;
let ofOperator: string;
let endpoint: HttpSensor;
/** Endpoint whose chain of reports a request restarts. */
let other: HttpSensor;
let leaving: HttpSensor;
let event: { event_id: string; change_id: string };
let windowId: string;
let agents: OperatedAgents;
beforeAll(async () => {
  await iam.start();
  service = await startService({
    outgoingHosts: ['127.0.0.1:1'],
    decoys: [settingsOf({ kind: 'aws' })],
    aws: { iam: { ...iam.access, endpoint: iam.endpoint }, trail: null },
  });
  file = new DatabaseSync(join(service.dataDir, 'platform.sqlite'), { readOnly: true });
  await fill(service, 's', 3);
  packageId = (await service.call('POST', '/evidence/generate', { stream_id: 's' })).body.package_id;
  checkId = (await service.call('POST', '/streams/s/verify')).body.verification_id;
  await makeEndpoints();
  agents = new OperatedAgents(service);
  await agents.make();
  for (const scope of SCOPES) keys.set(scope, (await makeKey([scope])).api_key);
  ofAuditor = (await makeKey(scopesOfRole('auditor'))).api_key;
  ofExporter = (await makeKey(['audit:read', 'audit:export'])).api_key;
  ofOperator = (await makeKey(scopesOfRole('operator'))).api_key;
});
afterAll(async () => {
  file.close();
  await service.close();
  await iam.stop();
});

async function makeKey(scopes: Scope[]) {
  return (await service.call('POST', '//keys/', { name: scopes.join().slice(0, 200), scopes })).body;
}

test('the table has every operation of the documents that needs a key', async () => {
  const documents = await Promise.all(
    ['audit', 'traps', 'endpoints', 'agents', 'alerts', 'keys', 'people', 'administration'].map(
      async (name) => (await service.call('GET', `//${name}/openapi.json`)).body,
    ),
  );
  const operations = documents.flatMap(({ servers: [{ url }], paths }) =>
    Object.entries<Record<string, { security: object[] }>>(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        // Operations without security need no key.
        .filter(([, { security }]) => security.length > 0)
        .map(([method]) => `${method.toUpperCase()} ${url}${path}`),
    ),
  );
  expect(operations.sort()).toEqual(OPERATIONS.map(({ operation }) => operation).sort());
});

const EACH_BY_EACH = OPERATIONS.flatMap((row) => SCOPES.map((scope) => ({ row, scope })));
/**
 * Groups rows by their operation, and by the scope: sufficient, insufficient of the same service, or of another
 * service.
 */
const kindOf = ({ row: { operation, needed }, scope }: (typeof EACH_BY_EACH)[number]) => {
  const [service] = needed.split(':');
  return `${operation} ${scope === needed ? 'enough' : scope.startsWith(`${service}:`)}`;
};

test.each(someRows(EACH_BY_EACH, kindOf))('$row.operation by a key with $scope alone', async ({ row, scope }) => {
  const { needed, given, ofAgent } = row;
  const isEnough = scope === needed;
  const own = given === undefined ? keys.get(scope) : (await makeKey([needed, ...given])).api_key;
  const key = isEnough ? (ofAgent ? endpoint.token : own) : keys.get(scope);
  const { answer, isUnchanged } = await send(row, key);
  if (isEnough) {
    expect([200, 201, 202]).toContain(answer.status);
  } else {
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    expect(answer.body.detail).toContain(`the scope ${needed}`);
  }
  if (!isEnough || scope.endsWith(':read')) expect(isUnchanged).toBe(true);
});

/** Operations of an auditor other than reading. */
const VERIFY = 'POST /audit/streams/{stream_id}/verify';
const VERIFIES = [
  VERIFY,
  'POST /endpoints/hosts/{endpoint_id}/verify',
  'POST /agents/api/v1/agents/{agent_id}/trust-score/simulate',
];
/** Operation of an exporter other than reading and Verify. */
const GENERATE = 'POST /audit/evidence/generate';

/**
 * Groups operations by method and scope, because each operation was already tried with each scope; exceptions are
 * separate.
 */
const kindOfRole = ({ operation, needed, ofAgent }: Operation) =>
  [...VERIFIES, GENERATE].includes(operation) ? operation : `${operation.split(' ', 1)} ${needed} ${ofAgent}`;

test.each(someRows(OPERATIONS, kindOfRole))(
  'an auditor reads and verifies, and does nothing else: $operation',
  async (row) => {
    const { answer, isUnchanged } = await send(row, ofAuditor);
    const reads = row.operation.startsWith('GET ') && row.needed.endsWith(':read');
    const isAllowed = reads || VERIFIES.includes(row.operation);
    expect(answer.status).toBe(isAllowed && row.ofAgent === undefined ? 200 : 403);
    expect(isUnchanged).toBe(true);
  },
);

test.each(OPERATIONS.filter(({ path }) => !path.startsWith('//')))(
  'an exporter reads, verifies and generates packages, and appends nothing: $operation',
  async (row) => {
    const { answer, isUnchanged } = await send(row, ofExporter);
    const isAllowed = row.operation.startsWith('GET ') || [VERIFY, GENERATE].includes(row.operation);
    expect(answer.status === 403).toBe(!isAllowed);
    expect(isUnchanged).toBe(row.operation !== GENERATE);
  },
);

test.each(someRows(OPERATIONS, kindOfRole))(
  'an operator does everything but with people, and is no agent: $operation',
  async (row) => {
    const { answer } = await send(row, ofOperator);
    expect(answer.status === 403).toBe(row.operation.includes(' /people/') || row.ofAgent === true);
  },
);

async function send({ operation, path, body }: Operation, apiKey: string | undefined) {
  const [method = ''] = operation.split(' ');
  const known = {
    PACKAGE: packageId,
    CHECK: checkId,
    KEY: path.includes('KEY') ? (await makeKey(['keys:write'])).key_id : '',
    LINK: path.includes('LINK')
      ? (await service.call('POST', '//people/invitations', newInvitation())).body.link_id
      : '',
    WAITING: path.includes('WAITING') ? await addSignUp(service) : '',
    PERSON: path.includes('PERSON') ? await addPerson(service) : '',
    MESSAGE: path.includes('MESSAGE') ? await addDeadLetter(service) : '',
    TRAP: path.includes('TRAP') ? (await makeTrap()).credential_id : '',
    DETECTION: path.includes('DETECTION') ? await makeDetection() : '',
    HOOK: path.includes('HOOK') ? await makeHook() : '',
    ENDPOINT: endpoint.id,
    OTHER: other.id,
    LEAVING: leaving.id,
    EVENT: event.event_id,
    CHANGE: event.change_id,
    WINDOW: windowId,
    BAIT: baitId,
    BASELINE: path.includes('BASELINE') ? await makeProposal() : '',
    ...(await agents.known(path)),
  };
  const filled = Object.entries(known).reduce((whole, [name, id]) => whole.replace(name, id), path);
  const given = await body?.();
  const before = written();
  const answer = await service.call(method, filled, given, { authorization: `Bearer ${apiKey}` });
  return { answer, isUnchanged: written() === before };
}

function newInvitation() {
  return { email: `${++invited}@example.com`, role: 'auditor' };
}

async function makeTrap() {
  return (await service.call('POST', '//traps/api/v1/credentials/generate', BUG)).body;
}

async function makeDetection(): Promise<string> {
  const { credential, credential_id } = await makeTrap();
  await fetch(credential.url);
  const { body } = await service.call('GET', `//traps/api/v1/detections/?credential_id=${credential_id}`);
  return body.data[0].detection_id;
}

/** Enrolls an endpoint that reports, one to restart, one to retire, and one with an event. */
async function makeEndpoints(): Promise<void> {
  [endpoint, other, leaving] = [await enrol(service), await enrol(service), await enrol(service)];
  await endpoint.report(TOOLS);
  const changed = await enrol(service);
  const nothing = { endpoint_id: changed.id, name: 'nothing', roots: ['/usr/bin'], lines: [], complete: true };
  await service.call('POST', '//endpoints/baselines/register', nothing);
  await changed.report(TOOLS);
  [event] = (await service.call('GET', '//endpoints/events/')).body.data;
  const bait = { credential_type: 'aws_key', path: '/home/x/bait', label: 'x' };
  baitId = (await service.call('POST', `//endpoints/hosts/${endpoint.id}/bait`, bait)).body.bait_id;
  windowId = (await service.call('POST', '//endpoints/change-windows/', newWindow())).body.window_id;
}

let proposed = 0;

function newProposal() {
  return { from: 'latest_scan', name: `${++proposed}`, reason: 'x' };
}

async function makeProposal(): Promise<string> {
  const { body } = await service.call('POST', `//endpoints/hosts/${endpoint.id}/baselines`, newProposal());
  return body.baseline_id;
}

function newWindow() {
  return { all: true, until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'x' };
}

async function makeHook(): Promise<string> {
  const [there] = (await service.call('GET', '//alerts/channels/')).body.data;
  return there?.alert_channel_id ?? (await service.call('POST', '//alerts/channels/', HOOK)).body.alert_channel_id;
}

function written(): string {
  return JSON.stringify(WRITTEN.map((rows) => file.prepare(rows).all()));
}

import { openParts } from '../../../src/platform/parts.ts';
import { AGENTS, answered, onboarded, register } from '../agents/http-agent.ts';
import { ENDPOINTS, enrol } from '../endpoints/http-sensor.ts';
import { makeKnown } from '../endpoints/packages/known-rows.ts';
import { AFTER, BEFORE, eventsOf, propose, reported, watched } from '../endpoints/pages/scene.ts';
import { file } from '../endpoints/sensor-double.ts';
import { entry, type Service, startService } from '../service.ts';
import { settingsOf } from '../traps/decoy-places.ts';

/** A long name, as a person might choose without thinking of tables. */
export const LONG = `${'a name of many words '.repeat(6)}${'w'.repeat(50)}`;
/** More rows than a page of a list. */
const MANY = 27;

const TRAPS = '//traps/api/v1';

/** Starts a platform whose services have records of every kind, some of them with long names. */
export async function busyPlatform(): Promise<Service> {
  const service = await startService({
    decoys: [settingsOf({ kind: 'ssh' }), settingsOf({ kind: 'aws' })],
    outgoingHosts: ['127.0.0.1:1'],
  });
  await audited(service);
  await trapped(service);
  await watchedMachines(service);
  await agentsAtWork(service);
  await peopleAndKeys(service);
  return service;
}

const made = async (service: Service, path: string, body?: unknown) =>
  answered(await service.call('POST', path, body), 200, 201, 202);

async function audited(service: Service): Promise<void> {
  for (const stream of ['payments', LONG, 'damaged']) {
    const resource = (at: number) => (at % 2 === 0 ? {} : { resource_id: LONG });
    const entries = Array.from({ length: MANY }, (_, at) => entry(stream, at, resource(at)));
    await made(service, '/entries/batch', { entries });
  }
  for (let at = 0; at < MANY; at++) await made(service, '/entries/', entry(`stream-${at}`, at));
  await made(service, '/streams/payments/verify');
  await made(service, '/streams/payments/checkpoints');
  await made(service, '/evidence/generate', { stream_id: 'payments', from: '2026-01-01T00:00:00Z' });
  await service.sql(
    "DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE sequence = 4 AND stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'damaged')",
  );
  await made(service, '/streams/damaged/verify');
}

async function trapped(service: Service): Promise<void> {
  const trap = (label: string, more: object = {}) =>
    made(service, `${TRAPS}/credentials/generate`, {
      credential_type: 'web_bug',
      plant_location: 'wiki',
      label,
      ...more,
    });
  const opened = await trap('salaries of the board');
  for (let at = 0; at < MANY; at++)
    await fetch(opened.credential.url, { headers: { 'user-agent': at === 0 ? LONG : `Word/${at}` } });
  await trap(LONG, { credential_type: 'ssh_key', plant_location: 'server' });
  await trap('the key of the backup', { credential_type: 'aws_key', plant_location: 'ci' });
  const revoked = await trap('an old link', { plant_location: 'github' });
  await made(service, `${TRAPS}/credentials/${revoked.credential_id}/revoke`);
  for (let at = 0; at < MANY; at++) await trap(`link ${at}`);
  const { data } = answered(await service.call('GET', `${TRAPS}/detections/?limit=3`), 200);
  for (const [at, status] of ['acknowledged', 'archived'].entries())
    await made(service, `${TRAPS}/detections/${data[at].detection_id}/status`, { status });
}

async function watchedMachines(service: Service): Promise<void> {
  const act = (id: string, path: string) => made(service, `${ENDPOINTS}/hosts/${id}/${path}`, { reason: LONG });
  const web = await watched(service, 'web-1', BEFORE);
  await watched(service, 'web-2', BEFORE);
  const other = await watched(service, LONG, BEFORE);
  await made(service, `${ENDPOINTS}/change-windows/`, {
    endpoint_ids: [other.id],
    until: new Date(Date.now() + 3_600_000).toISOString(),
    reason: LONG,
  });
  await reported(web, AFTER);
  await reported(other, AFTER);
  await reported(web, [...AFTER, ...Array.from({ length: MANY }, (_, at) => file(`/usr/bin/zz${10 + at}`, `${at}`))]);
  const events = await eventsOf(service, web);
  await made(service, `${ENDPOINTS}/events/${events.get('/usr/bin/zz10')?.event_id}/acknowledge`);
  await propose(service, web, LONG);
  await act(web.id, 'isolate');
  await made(service, `${ENDPOINTS}/hosts/${web.id}/verify`);
  const gone = await watched(service, 'gone', BEFORE);
  await act(gone.id, 'retire');
  for (let at = 0; at < MANY; at++) await made(service, `${ENDPOINTS}/enroll`, { name: `fleet-${at}` });
  await reported(await enrol(service, { name: 'new' }), BEFORE);
  const { database } = await openParts({ dataDir: service.dataDir, postgresUrl: null });
  await makeKnown(database, { path: '/usr/bin/tool', sha256: '1'.repeat(64) });
  await database.close();
}

async function agentsAtWork(service: Service): Promise<void> {
  const parent = await onboarded(service, { name: LONG, allowed_tools: ['read_file', LONG.slice(0, 150)] });
  await onboarded(service, { name: 'a child', parent_agent_id: parent.id });
  for (let at = 0; at < MANY; at++) await parent.said({ action_description: at === 0 ? LONG : `read ${at}` });
  await parent.did();
  await parent.did({ tool_used: 'shell', action_description: LONG });
  answered(await parent.send('PUT', '/vault/secrets/db', { value: 'a password' }), 200, 201, 204);
  await made(service, `${AGENTS}/${parent.id}/vault/decoys`, { kind: 'secret', name: 'payments-api' });
  await made(service, '//agents/api/v1/subscribers', {
    url: 'https://receiver.example/events',
    audience: 'https://receiver.example',
  });
  const stopped = await onboarded(service, { name: 'stopped' });
  await made(service, `${AGENTS}/${stopped.id}/kill-switch`, { mode: 'suspend', reason: LONG });
  for (let at = 0; at < MANY; at++) await register(service, { name: `agent ${at}` });
}

async function peopleAndKeys(service: Service): Promise<void> {
  await made(service, '//alerts/channels/', { kind: 'webhook', name: 'On call', target: 'http://127.0.0.1:1/x' });
  await made(service, '//alerts/channels/', { kind: 'email', name: LONG.slice(0, 120), target: 'all@example.com' });
  for (let at = 0; at < MANY; at++)
    await made(service, '//keys/', { name: at === 0 ? LONG : `key ${at}`, scopes: ['audit:read'] });
  await made(service, '//people/invitations', { email: `${'x'.repeat(60)}@example.com`, role: 'auditor' });
}

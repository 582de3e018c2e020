import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Scope } from '../../../src/platform/scopes.ts';
import { call, type Service, startService } from '../service.ts';
import { AGENTS, type HttpAgent, onboarded } from './http-agent.ts';

let service: Service;
let agent: HttpAgent;
beforeAll(async () => {
  service = await startService();
  agent = await onboarded(service);
});
afterAll(() => service.close());

const own = (path: string) => `${AGENTS}/${agent.id}${path}`;

/** Returns a caller with a key of these scopes. */
async function caller(scopes: readonly Scope[]) {
  const { api_key } = (await service.call('POST', '//keys/', { name: 'x', scopes })).body;
  return (method: string, path: string, body?: unknown) =>
    call(service.origin, api_key, method, own(path).slice(1), body);
}

test('an agent puts and takes its secrets, and no answer that has a value is kept by anybody between', async () => {
  expect((await agent.send('PUT', '/vault/secrets/db', { value: 'a password' })).body).toMatchObject({ version: 1 });
  const taken = await agent.send('GET', '/vault/secrets/db');
  expect(taken.body).toMatchObject({ name: 'db', value: 'a password', lease: { lease_id: expect.any(String) } });
  expect(taken.headers.get('cache-control')).toBe('no-store');
  expect((await agent.send('GET', '/vault')).body).toMatchObject({ secrets: [{ name: 'db' }], tools: ['read_file'] });
  expect((await agent.send('DELETE', '/vault/secrets/db')).status).toBe(200);
  expect((await agent.send('GET', '/vault/secrets/db')).status).toBe(404);
});

test.each(['a%2Fb', 'a%00b', 'x'.repeat(101), '-x'])('a secret of the name %s is refused', async (name) => {
  expect((await agent.send('PUT', `/vault/secrets/${name}`, { value: 'x' })).status).toBe(422);
});

test('a value that is none, too long, or has U+0000 in it, is refused', async () => {
  for (const value of ['', 'x'.repeat(65_537), 'a\0b', 7, null])
    expect((await agent.send('PUT', '/vault/secrets/x', { value })).status).toBe(422);
});

test('whoever may only read, reads no secret; whoever may only act, sees no decoy', async () => {
  const [reader, actor, writer] = [
    await caller(['agents:read']),
    await caller(['agents:act']),
    await caller(['agents:write']),
  ];
  expect((await agent.send('PUT', '/vault/secrets/kept', { value: 'x' })).status).toBe(200);
  for (const path of ['/vault', '/vault/secrets/kept']) expect((await reader('GET', path)).status).toBe(403);
  expect((await actor('GET', '/vault/secrets/kept')).body.value).toBe('x');
  for (const each of [actor, agent.send.bind(agent)]) expect((await each('GET', '/vault/decoys')).status).toBe(403);
  const refused = await writer('POST', '/vault/decoys', { kind: 'tool', name: 'x' });
  expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('traps:write')]);
});

test('an action with a decoy tool is a violation that costs trust, and a detection by which its trap knows the action', async () => {
  const { body: decoy } = await service.call('POST', own('/vault/decoys'), { kind: 'tool', name: 'export_customers' });
  expect((await agent.send('GET', '/vault')).body.tools).toEqual(['export_customers', 'read_file']);
  const { action_id, decision, violations, trust, entry } = await agent.did({ tool_used: 'export_customers' });
  expect({ decision, violations }).toMatchObject({ decision: 'violation', violations: [{ rule: 'decoy_used' }] });
  expect(trust).toMatchObject({ before: 60, after: 30, tier: 'RESTRICTED' });
  const path = `//traps/api/v1/detections/?credential_id=${decoy.credential_id}`;
  const { data } = (await service.call('GET', path)).body;
  expect(data).toMatchObject([
    {
      channel: 'tool_call',
      depth: 'used',
      severity: 'critical',
      occurrences: 1,
      source_event_id: action_id,
      action: `called the tool "export_customers" as agent:${agent.id}`,
    },
  ]);
  const stream = `/entries/?stream_id=agents/${agent.id}&limit=500`;
  const entries: { action: string; sequence: number; metadata: object }[] = (await service.call('GET', stream)).body
    .data;
  expect(entries.find(({ sequence }) => sequence === entry.sequence)).toMatchObject({ action: 'action.logged' });
  expect(entries.filter(({ action }) => action === 'vault.decoy_used')).toMatchObject([
    { metadata: { use: 'called', detection_id: data[0].detection_id } },
  ]);
});

test('the trap of a decoy is on its page like any other, and its channel is proved there', async () => {
  const { body: decoy } = await service.call('POST', own('/vault/decoys'), { kind: 'secret', name: 'root-password' });
  const trap = `//traps/api/v1/credentials/${decoy.credential_id}`;
  expect((await service.call('POST', `${trap}/test`)).body.data).toMatchObject([
    { channel: 'vault_read', proved: true },
  ]);
  expect((await service.call('GET', trap)).body).toMatchObject({ detection_count: 0, status: 'planted' });
  expect((await service.call('GET', `${trap}/realism`)).body.data).toMatchObject([
    { check: 'plain_label', result: 'passed' },
    { check: 'planted', result: 'passed' },
    { check: 'proved', result: 'passed' },
  ]);
  expect((await service.call('POST', `${trap}/rotate`)).status).toBe(409);
});

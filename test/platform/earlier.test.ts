import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startPlatform } from '../../src/platform/app.ts';
import { setAside } from '../../src/platform/audit/earlier.ts';
import { openSqlite } from '../../src/platform/database/sqlite.ts';
import type { Platform } from '../../src/platform/options.ts';
import { call } from './service.ts';

/** A data folder as the first form of the platform left it, with what its service answered. */
const EARLIER = new URL('earlier/', import.meta.url);
const read = (name: string) => readFile(new URL(name, EARLIER), 'utf8');

let folder: string;
let dataDir: string;
let platform: Platform | null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earlier-'));
  dataDir = join(folder, 'data');
  platform = null;
  await cp(new URL('authority', EARLIER), join(dataDir, 'authority'), { recursive: true });
  await writeFile(join(dataDir, 'master.key'), Buffer.from((await read('master.key.hex')).trim(), 'hex'));
  execFileSync('sqlite3', [join(dataDir, 'platform.sqlite')], { input: await read('platform.sql') });
});
afterEach(async () => {
  await platform?.close();
  await rm(folder, { recursive: true });
});

async function serve() {
  platform = await startPlatform({ dataDir, port: 0, logLevel: 'silent' });
  const apiKey = (await read('api-key')).trim();
  const { auditUrl } = platform;
  return (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(auditUrl, apiKey, method, path, body, headers);
}

test('what the first form had is served as it was, and every stream is verified anew', async () => {
  const ask = await serve();
  expect((await ask('GET', '/entries/?limit=500')).text).toBe(await read('entries.answer'));
  const packed = await read('package.answer');
  expect((await ask('GET', `/evidence/${JSON.parse(packed).package_id}/json`)).text).toBe(packed);
  expect((await ask('GET', '/streams/payments/checkpoints')).body).toEqual(
    JSON.parse(await read('checkpoints.answer')),
  );
  const { data } = (await ask('GET', '/streams/')).body;
  for (const { stream_id, verification_status, last_checked_at } of data) {
    expect([verification_status, last_checked_at]).toEqual(['unverified', null]);
    const path = `/streams/${encodeURIComponent(stream_id)}/verify`;
    expect((await ask('POST', path)).body).toMatchObject({ verified: true, failures: [] });
  }
  expect(data.map(({ stream_id }: { stream_id: string }) => stream_id)).toEqual(['logins', 'payments', 'prod/übung']);
});

test('who repeats a request still repeats it, and new entries follow the old ones', async () => {
  const ask = await serve();
  const first = {
    stream_id: 'payments',
    actor: 'a.larsen',
    action: 'approve',
    resource_type: 'payment',
    resource_id: 'p/1',
    metadata: { n: 1.5, ü: [1] },
    idempotency_key: 'key-payments-1',
  };
  const again = await ask('POST', '/entries/', first);
  expect([again.status, again.body.sequence]).toEqual([200, 1]);
  const common = { actor: 'b', action: 'x', resource_type: 't', resource_id: 'r' };
  const entries = [
    { stream_id: 'payments', ...common },
    { stream_id: 'logins', ...common, occurred_at: '2026-10-01T00:00:00Z' },
  ];
  const batch = await ask('POST', '/entries/batch', { entries }, { 'idempotency-key': 'batch-1' });
  expect([batch.body.created, batch.body.repeated]).toEqual([0, 2]);
  const added = await ask('POST', '/entries/', { ...first, idempotency_key: 'new' });
  expect([added.status, added.body.sequence]).toEqual([201, 5]);
  expect((await ask('POST', '/streams/payments/verify')).body).toMatchObject({ verified: true, entries_checked: 5 });
});

test('an upgrade that was cut short is gone on with, and one that is done is done', async () => {
  const database = openSqlite(join(dataDir, 'platform.sqlite'));
  await setAside(database);
  await database.close();
  let ask = await serve();
  expect((await ask('GET', '/entries/?limit=500')).text).toBe(await read('entries.answer'));
  await platform?.close();
  ask = await serve();
  expect((await ask('GET', '/entries/?limit=500')).text).toBe(await read('entries.answer'));
});

import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { usePostgres } from '../support/shared-postgres.ts';
import { Origins, PlatformProcesses } from './processes.ts';
import { recomputeInPython } from './recomputed.ts';
import { call, entry } from './service.ts';
import { write } from './writers.ts';

let folder: string;
let platform: PlatformProcesses;
let dataDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-'));
  dataDir = join(folder, 'data');
  platform = await PlatformProcesses.init(['--data', dataDir]);
});
afterEach(async () => {
  await platform.close();
  await rm(folder, { recursive: true });
});

test('a copy that is made while somebody writes is served elsewhere, and has whole chains of all that was acknowledged before', async () => {
  const origins = new Origins();
  const out = join(folder, 'copy');
  const restored = platform.at(['--data', out]);
  try {
    const served = await platform.serve();
    origins.add(served.origin);
    let before = 0;
    const copying = Promise.withResolvers<string>();
    const load = { writers: 8, each: 60, streams: 3 };
    const writing = write(platform, origins, load, () => {
      before = writing.acknowledged.size;
      copying.resolve(platform.run('backup', ['--out', out]));
    });
    const said = await copying.promise;
    await writing.done;
    expect(said).toContain(`${out} contains the database and keys`);
    expect((await readdir(out)).sort()).toEqual(['authority', 'master.key', 'platform.sqlite']);
    for (const name of ['master.key', 'platform.sqlite'])
      expect((await stat(join(out, name))).mode & 0o777, name).toBe(0o600);
    const { origin } = await restored.serveHere();
    let entries = 0;
    for (const streamId of ['s0', 's1', 's2']) {
      const ask = (method: string, path: string, body?: unknown) =>
        call(`${origin}/audit`, platform.apiKey, method, path, body);
      expect((await ask('POST', `/streams/${streamId}/verify`)).body).toMatchObject({ verified: true });
      const { body } = await ask('POST', '/evidence/generate', { stream_id: streamId });
      const { text } = await ask('GET', `/evidence/${body.package_id}/json`);
      entries += Number(await recomputeInPython(text, out, folder));
      await ask('POST', '/streams/s0/checkpoints');
    }
    expect(before).toBeGreaterThan(0);
    expect(entries).toBeGreaterThanOrEqual(before);
    expect(entries).toBeLessThanOrEqual(load.writers * load.each);
  } finally {
    await origins.close();
    await restored.close();
  }
});

test('keys that were copied and a database of PostgreSQL that was put back are a platform whose chains are whole', async () => {
  const server = await usePostgres();
  const other = join(folder, 'other');
  const url = await server.create();
  const first = await PlatformProcesses.init(['--data', other, '--postgres', url]);
  const out = join(folder, 'copy');
  let restored: PlatformProcesses | undefined;
  try {
    const { origin } = await first.serveHere();
    for (const number of [1, 2, 3])
      await call(`${origin}/audit`, first.apiKey, 'POST', '/entries/', entry('s', number));
    const said = await first.run('backup', ['--out', out]);
    expect(said).toContain('keys (the database: pg_dump)');
    expect(said).toContain(`serve --data ${out} --postgres postgres://WHERE-IT-WAS-RESTORED`);
    await first.close();
    // PostgreSQL's own copy of an unused database, which equals a pg_dump and pg_restore.
    restored = first.at(['--data', out, '--postgres', await server.create(url)]);
    const again = await restored.serveHere();
    const { body } = await call(`${again.origin}/audit`, first.apiKey, 'POST', '/streams/s/verify');
    expect(body).toMatchObject({ verified: true, entries_checked: 3 });
  } finally {
    await first.close();
    await restored?.close();
    await server.close();
  }
});

test('nothing is written over, and nothing is left of a copy that fails', async () => {
  await expect(platform.run('backup', ['--out', dataDir])).rejects.toThrow(/exists already; nothing was written/);
  const key = await readFile(join(dataDir, 'master.key'));
  await rm(join(dataDir, 'authority'), { recursive: true });
  await expect(platform.run('backup', ['--out', join(folder, 'copy')])).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['data']);
  expect(await readFile(join(dataDir, 'master.key'))).toEqual(key);
});

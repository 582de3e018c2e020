import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresDatabases, usePostgres } from '../support/shared-postgres.ts';
import { someRows } from '../support/some-rows.ts';
import { migratedPostgres } from './database/databases.ts';
import { kill, Origins, PlatformProcesses } from './processes.ts';
import { expectWhole, write } from './writers.ts';

let folder: string;
let server: PostgresDatabases;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'processes-'));
  server = await usePostgres();
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const STREAMS = [
  ['one stream', 1],
  ['ten streams', 10],
] as const;

test.each(someRows(STREAMS, () => 'a kill'))(
  'three processes on one PostgreSQL make whole chains of %s, also when one is killed in the middle',
  async (_name, streams) => {
    // Far fewer writers than in test/soak, which has the full number.
    const load = { writers: 16, each: 40, streams };
    const dataDir = join(folder, `data-${streams}`);
    const platform = await PlatformProcesses.init([
      '--data',
      dataDir,
      '--postgres',
      await server.create((await migratedPostgres()).url),
    ]);
    const origins = new Origins();
    try {
      const served = [await platform.serve(), await platform.serve(), await platform.serve()];
      const [first, second] = served;
      for (const { origin } of served) origins.add(origin);
      const writing = write(platform, origins, load, () => first && void kill(first.child));
      await writing.done;
      expect(first?.child.signalCode).toBe('SIGKILL');
      const { apiKey } = platform;
      await expectWhole(writing, load, { origin: second?.origin ?? '', apiKey, dataDir, folder });
    } finally {
      await origins.close();
      await platform.close();
    }
  },
);

test('a database that was initialised is not made anew, and one that does not answer is named without its password', async () => {
  const url = await server.create();
  await PlatformProcesses.init(['--data', join(folder, 'first'), '--postgres', url]);
  const again = PlatformProcesses.init(['--data', join(folder, 'second'), '--postgres', url]);
  await expect(again).rejects.toThrow(/the database was initialized with a master key other than/);
  const nobody = PlatformProcesses.init(['--data', join(folder, 'third'), '--postgres', 'postgres://u@127.0.0.1:1/d']);
  await expect(nobody).rejects.toThrow(/the database d at 127.0.0.1:1 cannot be used/);
});

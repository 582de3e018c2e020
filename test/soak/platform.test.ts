import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kill, Origins, PlatformProcesses } from '../platform/processes.ts';
import { expectWhole, write } from '../platform/writers.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const MINUTES = 60_000;
const KILLS = 20;

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-soak-'));
  server = await startPostgres({ durable: true });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

let places = 0;
async function newPlatform(kind: 'SQLite' | 'PostgreSQL') {
  const dataDir = join(folder, `data-${++places}`);
  const words = ['--data', dataDir, ...(kind === 'SQLite' ? [] : ['--postgres', await server.createDatabase()])];
  return { dataDir, platform: await PlatformProcesses.init(words) };
}

describe.each([
  ['SQLite', 1],
  ['PostgreSQL', 1],
  ['PostgreSQL', 4],
] as const)('%s, %i processes', (kind, processes) => {
  test.each([1, 50])('64 writers of 500 entries each over %i streams', { timeout: 20 * MINUTES }, async (streams) => {
    const load = { writers: 64, each: 500, streams };
    const { dataDir, platform } = await newPlatform(kind);
    const origins = new Origins();
    try {
      const served = [];
      for (let count = 0; count < processes; count++) served.push(await platform.serve());
      for (const { origin } of served) origins.add(origin);
      const [victim] = served;
      const began = performance.now();
      const writing = write(platform, origins, load, () => processes > 1 && victim && void kill(victim.child));
      await writing.done;
      const seconds = (performance.now() - began) / 1000;
      process.stdout.write(
        `${kind}, ${processes} processes, ${streams} streams: ${Math.round(32_000 / seconds)} entries/s\n`,
      );
      const origin = served.at(-1)?.origin ?? '';
      await expectWhole(writing, load, { origin, apiKey: platform.apiKey, dataDir, folder });
    } finally {
      await origins.close();
      await platform.close();
    }
  });
});

describe.each(['SQLite', 'PostgreSQL'] as const)('%s', (kind) => {
  test(`killed ${KILLS} times under load, it has every entry that it acknowledged`, {
    timeout: 20 * MINUTES,
  }, async () => {
    const load = { writers: 32, each: 1000, streams: 10 };
    const { dataDir, platform } = await newPlatform(kind);
    const origins = new Origins();
    try {
      let served = await platform.serve();
      origins.add(served.origin);
      const writing = write(platform, origins, load);
      let left = KILLS;
      const killing = (async () => {
        for (; left > 0; left--) {
          await sleep(100 + Math.random() * 400);
          await kill(served.child);
          await origins.remove(served.origin);
          served = await platform.serve();
          origins.add(served.origin);
        }
      })();
      await Promise.all([writing.done, killing]);
      expect(left).toBe(0);
      await expectWhole(writing, load, { origin: served.origin, apiKey: platform.apiKey, dataDir, folder });
    } finally {
      await origins.close();
      await platform.close();
    }
  });
});

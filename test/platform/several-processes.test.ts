import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { type Acknowledged, kill, Origins, PlatformProcesses } from './processes.ts';
import { recomputeInPython } from './recomputed.ts';
import { call, entry } from './service.ts';

/** Far fewer than in test/soak, which has the full number. */
const WRITERS = 16;
const EACH = 40;

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'processes-'));
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

describe.each([
  ['one stream', 1],
  ['ten streams', 10],
])('four processes on one PostgreSQL, %s', (_name, streams) => {
  test('make chains without a gap or a fork, also when one is killed in the middle', async () => {
    const dataDir = join(folder, `data-${streams}`);
    const words = ['--data', dataDir, '--postgres', await server.createDatabase()];
    const platform = await PlatformProcesses.init(words);
    const origins = new Origins();
    try {
      const served = [await platform.serve(), await platform.serve(), await platform.serve(), await platform.serve()];
      for (const { origin } of served) origins.add(origin);
      const acknowledged: Acknowledged = new Map();
      let begun = 0;
      const write = async (writer: number) => {
        for (let number = 0; number < EACH; number++) {
          const idempotency_key = `${writer}/${number}`;
          await origins.append(
            platform.apiKey,
            { ...entry(`s${number % streams}`, number), idempotency_key },
            acknowledged,
          );
          // In the middle, and with requests of its own under way.
          if (++begun === (WRITERS * EACH) / 2 && served[0]) await kill(served[0].child);
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      expect(acknowledged.size).toBe(WRITERS * EACH);
      const places = new Set([...acknowledged.values()].map((at) => `${at.stream_id} ${at.sequence}`));
      expect(places.size).toBe(WRITERS * EACH);
      let entries = 0;
      for (let stream = 0; stream < streams; stream++)
        entries += await checkedInPython(`${served[1]?.origin}/audit`, platform.apiKey, `s${stream}`, dataDir);
      // Each was sent until it was acknowledged, under one key: not one is there twice.
      expect(entries).toBe(WRITERS * EACH);
    } finally {
      await origins.close();
      await platform.close();
    }
  }, 120_000);
});

/** How many entries Python finds to be one chain, after our own Verify has. */
async function checkedInPython(url: string, apiKey: string, streamId: string, dataDir: string): Promise<number> {
  const verification = await call(url, apiKey, 'POST', `/streams/${streamId}/verify`);
  expect(verification.body).toMatchObject({ verified: true, failures: [] });
  const { body } = await call(url, apiKey, 'POST', '/evidence/generate', { stream_id: streamId });
  const { text } = await call(url, apiKey, 'GET', `/evidence/${body.package_id}/json`);
  return Number(await recomputeInPython(text, dataDir, folder));
}

test('a database that was initialised is not made anew, and one that does not answer is named without its password', async () => {
  const url = await server.createDatabase();
  await PlatformProcesses.init(['--data', join(folder, 'first'), '--postgres', url]);
  const again = PlatformProcesses.init(['--data', join(folder, 'second'), '--postgres', url]);
  await expect(again).rejects.toThrow(/the database was initialised before: it has API keys/);
  const nobody = PlatformProcesses.init(['--data', join(folder, 'third'), '--postgres', 'postgres://u@127.0.0.1:1/d']);
  await expect(nobody).rejects.toThrow(/the database d at 127.0.0.1:1 cannot be used/);
});

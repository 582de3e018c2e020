import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Crowd } from '../platform/agents/crowd.ts';
import type { Answering } from '../platform/agents/http-agent.ts';
import { PlatformProcesses } from '../platform/processes.ts';
import { call, entry } from '../platform/service.ts';
import { startPostgres } from '../support/postgres.ts';

const AGENTS = 100;
const EACH = 100;
/** Bound relative to an append: an action is an entry and two more rows, and many actions share a transaction. */
const MOST_TIMES_AN_APPEND = 6;

/** Requests under way at a time. */
const CONNECTIONS = 128;
const before = getGlobalDispatcher();
beforeAll(() => setGlobalDispatcher(new Agent({ connections: CONNECTIONS })));
afterAll(() => setGlobalDispatcher(before));

/** Storage of a platform, and its number of processes. */
interface SoakedPlace {
  words: string[];
  processes: number;
  close(): Promise<void>;
}

const PLACES: readonly (readonly [name: string, make: () => Promise<SoakedPlace>])[] = [
  ['SQLite', async () => ({ words: [], processes: 1, close: async () => {} })],
  ['PostgreSQL', onPostgres],
];

async function onPostgres(): Promise<SoakedPlace> {
  const server = await startPostgres();
  return { words: ['--postgres', await server.createDatabase()], processes: 2, close: () => server.stop() };
}

test.each(PLACES)(
  `${AGENTS} agents that report ${EACH} actions each, all at once, beside as many bare appends, on %s`,
  async (name, make) => {
    const folder = await mkdtemp(join(tmpdir(), 'agents-soak-'));
    const place = await make();
    const platform = await PlatformProcesses.init(['--data', join(folder, 'data'), ...place.words]);
    try {
      const origins: string[] = [];
      while (origins.length < place.processes) origins.push((await platform.serve()).origin);
      const service = serviceAt(origins, platform.apiKey);
      const crowd = await Crowd.of(service, { agents: AGENTS, each: EACH });
      const actions = (AGENTS * EACH) / (await crowd.act());
      const appends = (AGENTS * EACH) / (await append(service));
      process.stdout.write(`${name}: ${actions.toFixed(0)} actions/s, ${appends.toFixed(0)} bare appends/s\n`);
      await crowd.expectRight();
      expect(appends / actions).toBeLessThan(MOST_TIMES_AN_APPEND);
    } finally {
      await platform.close();
      await place.close();
      await rm(folder, { recursive: true });
    }
  },
  900_000,
);

/** Appends as many entries to as many streams, with concurrent requests. @returns the duration in seconds. */
async function append(service: Answering): Promise<number> {
  const began = performance.now();
  const all = Array.from({ length: AGENTS * EACH }, async (_, number) => {
    const { status } = await service.call('POST', '/entries/', entry(`stream ${number % AGENTS}`, number));
    return status;
  });
  expect(new Set(await Promise.all(all))).toEqual(new Set([201]));
  return (performance.now() - began) / 1000;
}

/** Sends each request to the next process. */
function serviceAt(origins: readonly string[], apiKey: string): Answering {
  let requests = 0;
  const next = () => origins[requests++ % origins.length] ?? '';
  return {
    get origin() {
      return next();
    },
    call: (method, path, body, headers) =>
      path.startsWith('//')
        ? call(next(), apiKey, method, path.slice(1), body, headers)
        : call(`${next()}/audit`, apiKey, method, path, body, headers),
  };
}

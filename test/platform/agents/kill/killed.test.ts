import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KILL_STEPS, streamOfAgent } from '../../../../src/platform/agents/enums.ts';
import type { WireKill } from '../../../../src/platform/agents/wire/kill.ts';
import { startPlatform } from '../../../../src/platform/app.ts';
import { initPlatform } from '../../../../src/platform/init.ts';
import { openParts, type Parts } from '../../../../src/platform/parts.ts';
import { run } from '../../../support/process.ts';
import { type PostgresDatabases, usePostgres } from '../../../support/shared-postgres.ts';
import { migratedPostgres } from '../../database/databases.ts';
import { kill as killProcess } from '../../processes.ts';
import { call } from '../../service.ts';
import { AGENT } from '../agent-place.ts';
import type { Interrupted, Interruption } from './interrupted.ts';
import { ALL_DONE, patient, resultsOf } from './kill-place.ts';
import { killSwitchOn } from './on-parts.ts';

let folder: string;
let server: PostgresDatabases;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'killed-'));
  server = await usePostgres();
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

type Place = { dataDir: string; postgresUrl: string | null };

/** Onboards pairs of a parent and a child with a platform that then ends. */
async function makeFamilies(place: Place, count: number) {
  const { apiKey } = await initPlatform(place);
  const { origin, close } = await startPlatform({ ...place, port: 0, logLevel: 'silent' });
  const post = async (path: string, body?: object) => {
    const answer = await call(`${origin}/agents/api/v1`, apiKey, 'POST', path, body);
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  const onboarded = async (more: object) => {
    const { agent_id } = await post('/agents', { ...AGENT, ...more });
    await post(`/agents/${agent_id}/onboard`);
    return agent_id as string;
  };
  const families: { parent: string; child: string }[] = [];
  for (let made = 0; made < count; made++) {
    const parent = await onboarded({});
    families.push({ parent, child: await onboarded({ parent_agent_id: parent }) });
  }
  await close();
  return { apiKey, families };
}

/** Uses the kill switch in another process, and kills the process once each use hangs at its step. */
async function killBetween(place: Place, kills: readonly Interrupted[], agoMs = 0): Promise<void> {
  const program = join(import.meta.dirname, 'interrupted.ts');
  const child = spawn(process.execPath, [program, JSON.stringify({ place, kills, agoMs } satisfies Interruption)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')]);
  await killProcess(child);
  expect(line).toBe('hanging');
}

async function stepEntries({ log, database }: Parts, agentId: string) {
  const entries = await log.newest(database, streamOfAgent(agentId), { limit: 500 });
  return entries.toReversed().filter(({ action }) => action.startsWith('kill.'));
}

const PLACES = [
  ['SQLite', async () => null],
  ['PostgreSQL', async () => server.create((await migratedPostgres()).url)],
] as const;

test.each(PLACES)(
  'a process that is killed between any two steps leaves them to another one, which does what is left, on %s',
  async (name, database) => {
    const place = { dataDir: join(folder, name), postgresUrl: await database() };
    const { families } = await makeFamilies(place, KILL_STEPS.length);
    const kills = families.map(
      ({ parent: agentId }, at): Interrupted => ({
        agentId,
        mode: at % 2 === 0 ? 'revoke' : 'suspend',
        step: KILL_STEPS[at] ?? 'agent_state',
        deadlineMs: 60_000,
      }),
    );
    await killBetween(place, kills);
    const parts = await openParts(place);
    try {
      const soon = killSwitchOn(parts, { clock: () => new Date(), change: patient });
      const receiptOf = async (agentId: string): Promise<WireKill> => {
        const [receipt] = (await soon.list(agentId, { limit: 1 })).data;
        if (receipt === undefined) throw new Error('there is no kill');
        return receipt;
      };
      const before = await Promise.all(families.map(({ parent }) => receiptOf(parent)));
      // Other processes must assume that the killed process is alive.
      await soon.resumeAbandoned();
      expect(await Promise.all(families.map(({ parent }) => receiptOf(parent)))).toEqual(before);
      const later = killSwitchOn(parts, { clock: () => new Date(Date.now() + 120_000), change: patient });
      await later.resumeAbandoned();
      for (const [at, { parent, child }] of families.entries()) {
        await expect.poll(async () => (await receiptOf(parent)).finished_at).not.toBeNull();
        const after = await receiptOf(parent);
        for (const agentId of [child, parent]) expect(resultsOf(after, agentId)).toEqual(ALL_DONE);
        const done = before[at]?.agents.flatMap(({ steps }) => steps.filter(({ result }) => result !== null)) ?? [];
        expect(done).toHaveLength(2 * at);
        // Completed steps do not run again.
        expect(after.agents.flatMap(({ steps }) => steps)).toEqual(expect.arrayContaining(done));
        const own = await stepEntries(parts, parent);
        expect(own.map(({ action, metadata }) => metadata['step'] ?? action)).toEqual(
          expect.arrayContaining(['kill.started', 'kill.resumed', ...KILL_STEPS, 'kill.finished']),
        );
        expect(own).toHaveLength(KILL_STEPS.length + 3);
      }
      await later.settled();
    } finally {
      await parts.database.close();
    }
  },
);

test('a platform that is started again does what is left by itself', async () => {
  const place = { dataDir: join(folder, 'again'), postgresUrl: null };
  const { apiKey, families } = await makeFamilies(place, 1);
  const agentId = families[0]?.parent ?? '';
  const kills: Interrupted[] = [{ agentId, mode: 'suspend', step: 'certificates', deadlineMs: 3000 }];
  // A minute passes, so the killed process cannot be alive.
  await killBetween(place, kills, 60_000);
  const open = 'SELECT count(*) FROM agent_kills WHERE finished_at IS NULL';
  expect(await run('sqlite3', [join(place.dataDir, 'platform.sqlite'), open])).toBe('1\n');
  const { origin, close } = await startPlatform({ ...place, port: 0, logLevel: 'silent' });
  try {
    const receipts = async () =>
      (await call(`${origin}/agents/api/v1`, apiKey, 'GET', `/agents/${agentId}/kill-switch`)).body.data as WireKill[];
    await expect.poll(async () => (await receipts())[0]?.finished_at).not.toBeNull();
    const [receipt] = await receipts();
    if (receipt === undefined) throw new Error('there is no kill');
    expect(resultsOf(receipt)).toEqual(ALL_DONE);
  } finally {
    await close();
  }
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kill, Origins, PlatformProcesses } from '../platform/processes.ts';
import { recomputeInPython } from '../platform/recomputed.ts';
import { call, entry } from '../platform/service.ts';
import { readDocument, shellLines } from '../support/documents.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { type PostgresServer, programsOfDebian, programsOfNpm, startPostgres } from '../support/postgres.ts';
import { builtFolder, run, runToEnd } from '../support/process.ts';

/** Debian's server, with its own pg_dump and pg_restore. */
const PROGRAMS = programsOfDebian();

let folder: string;
let server: PostgresServer;
/** Environment of the server's administrator. */
let env: Record<string, string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'postgres-backup-'));
  server = await startPostgres({ programs: PROGRAMS, administrator: 'postgres' });
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const program = join(builtFolder(), 'dist/start/evidence-platform.cjs');
  writeFileSync(join(bin, 'evidence-platform'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(bin, 'evidence-platform'), 0o755);
  env = {
    PGHOST: '127.0.0.1',
    PGPORT: `${server.port}`,
    PGUSER: 'postgres',
    DATABASE: addressOf('audit'),
    RESTORED: addressOf('restored'),
    PATH: `${bin}:${PROGRAMS}:/usr/bin:/bin`,
  };
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

test('what pg_dump took while others wrote is served from another database, with whole chains', async () => {
  const platform = await initialise();
  const origins = new Origins();
  const acknowledged = new Map();
  try {
    origins.add((await platform.serve()).origin);
    let isCopied = false;
    const enough = Promise.withResolvers<void>();
    const writeOne = async (writer: number) => {
      for (let number = 0; !isCopied; number++) {
        const keyed = { ...entry(`s${number % 3}`, number), idempotency_key: `${writer}/${number}` };
        await origins.append(platform.apiKey, keyed, acknowledged);
        if (acknowledged.size > 500) enough.resolve();
      }
    };
    const writing = Promise.all([0, 1, 2, 3].map(writeOne));
    await enough.promise;
    const before = acknowledged.size;
    const { copying, serving } = linesOfTheTopic();
    await inShell(copying);
    const after = acknowledged.size;
    isCopied = true;
    await writing;
    expect(after).toBeGreaterThan(before);
    const restored = await verifyAll(serving, platform.apiKey);
    expect(restored).toBeGreaterThanOrEqual(before);
    expect(restored).toBeLessThan(acknowledged.size);
  } finally {
    await origins.close();
    await platform.close();
  }
});

test('the topic names the versions of PostgreSQL on which this is tried', async () => {
  const versionIn = async (programs: string) =>
    /\(PostgreSQL\) (\d+)/.exec(await run(join(programs, 'postgres'), ['--version'], folder))?.[1];
  const [oldest, newest] = [await versionIn(PROGRAMS), await versionIn(programsOfNpm())];
  const { text } = readDocument('templates/help/platform/postgresql.md');
  expect(text).toContain(`tried with PostgreSQL ${oldest} and ${newest}`);
});

function addressOf(database: string): string {
  return `postgres://platform@127.0.0.1:${server.port}/${database}`;
}

/** Creates a platform on a database with its own role, as the topic on PostgreSQL describes. */
async function initialise(): Promise<PlatformProcesses> {
  const lines = shellLines('platform/postgresql', 0).split('\n');
  await inShell(lines.filter((line) => /^create/.test(line)).join('\n'));
  return PlatformProcesses.init(['--data', join(folder, 'data'), '--postgres', addressOf('audit')]);
}

/** Returns the lines of the topic; the last one serves until it is ended. */
function linesOfTheTopic(): { copying: string; serving: string } {
  const lines = shellLines('platform/backup', 1).trimEnd().split('\n');
  return { copying: lines.slice(0, -1).join('\n'), serving: lines.at(-1) ?? '' };
}

async function inShell(script: string): Promise<void> {
  const { code, stderr } = await runToEnd('bash', ['-euxc', script], { cwd: folder, env });
  expect(code, stderr).toBe(0);
}

/** @returns the number of entries, after Verify and Python have verified them. */
async function verifyAll(serving: string, apiKey: string): Promise<number> {
  const child = spawn('bash', ['-c', `exec ${serving} --port 0`], {
    cwd: folder,
    env: cleanEnvironment(env),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(createInterface(child.stdout), 'line');
    const url = `${/^listening on (http:\S+)$/.exec(line)?.[1]}/audit`;
    let entries = 0;
    for (const streamId of ['s0', 's1', 's2']) {
      const { body } = await call(url, apiKey, 'POST', `/streams/${streamId}/verify`);
      expect(body).toMatchObject({ verified: true, failures: [] });
      const made = await call(url, apiKey, 'POST', '/evidence/generate', { stream_id: streamId });
      const { text } = await call(url, apiKey, 'GET', `/evidence/${made.body.package_id}/json`);
      entries += Number(await recomputeInPython(text, join(folder, 'copy'), folder));
    }
    return entries;
  } finally {
    await kill(child);
  }
}

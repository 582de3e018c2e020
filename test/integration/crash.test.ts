import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDirectoryArchive } from '../../src/exporter/archive/directory/archive.ts';
import { verifyArchive } from '../../src/verifier/verify/archive.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { EVIDENCE, finish, startNode } from '../support/process.ts';

const KILLS = 20;
const STREAMS = 7;

let platform: ServedPlatform;
let undisturbed: { files: string[]; streams: unknown[]; milliseconds: number };

beforeAll(async () => {
  platform = await servePlatform();
  for (let index = 0; index < STREAMS; index++) await postEntries(platform, someEntries(`stream/${index}`, 20 * index));
  // Streams exist from their first entry on, so the first one of the loop above is not there.
  const place = newPlace();
  const began = performance.now();
  expect((await finish(startExport(place))).code).toBe(0);
  undisturbed = { ...(await readArchive(place)), milliseconds: performance.now() - began };
  expect(undisturbed.streams).toHaveLength(STREAMS - 1);
});
afterAll(() => platform.stop());

test(`killed at ${KILLS} random moments and started again, an export ends as if nothing had happened`, async () => {
  let killed = 0;
  // The machine may be faster now than it was then: a run that ends before its moment shortens what is left to choose.
  let longest = undisturbed.milliseconds;
  while (killed < KILLS) {
    const place = newPlace();
    const moment = Math.round(Math.random() * longest);
    const began = performance.now();
    const child = startExport(place);
    const finished = finish(child);
    await Promise.race([sleep(moment), finished]);
    child.kill('SIGKILL');
    if ((await finished).signal !== 'SIGKILL') {
      longest = Math.min(longest, performance.now() - began);
      continue;
    }
    killed++;
    const again = await finish(startExport(place));
    const words = `killed after ${moment} ms: ${again.stderr}`;
    expect(again.code, words).toBe(0);
    expect(await readArchive(place), words).toEqual({ files: undisturbed.files, streams: undisturbed.streams });
    expect(readdirSync(place.temporary), words).toEqual([]);
  }
}, 400_000);

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends an export within 5 s with %i and says how to go on', async (signal, exitCode) => {
  const place = newPlace();
  const child = startExport(place);
  const finished = finish(child);
  await new Promise<void>((begun) =>
    child.stderr?.on('data', (text: string) => /streams to export/.test(text) && begun()),
  );
  const began = performance.now();
  child.kill(signal);
  const { code, stderr } = await finished;
  expect([code, stderr]).toEqual([
    exitCode,
    expect.stringMatching(/interrupted; what is archived stays\nRun the same command again to resume/),
  ]);
  expect(performance.now() - began).toBeLessThan(5500);
  expect((await finish(startExport(place))).code).toBe(0);
  expect(await readArchive(place)).toEqual({ files: undisturbed.files, streams: undisturbed.streams });
});

interface Place {
  directory: string;
  temporary: string;
}

function newPlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'crash-test-'));
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  return { directory, temporary };
}

function startExport({ directory, temporary }: Place) {
  return startNode(EVIDENCE, ['export', '--request', 'AUD-1', '--all-time'], {
    cwd: directory,
    env: { ...platform.env, TMPDIR: temporary },
  });
}

/** The names of all files and what the run says of each stream, once the whole was found verified. */
async function readArchive({ directory }: Place) {
  const root = join(directory, 'evidence-archive');
  const archive = await openDirectoryArchive(root, { create: false });
  const report = await verifyArchive({
    archive,
    contract: null,
    sealKeys: new Map(),
    roots: null,
    stampRoots: null,
    publicKeys: [],
    now: new Date(),
    workDirectory: directory,
  });
  expect([report.outcome, report.warnings]).toEqual(['verified', []]);
  const run = JSON.parse(readFileSync(join(root, 'runs/AUD-1/run.json'), 'utf8'));
  return {
    files: readdirSync(root, { recursive: true, encoding: 'utf8' }).sort(),
    streams: run.streams.map((stream: Record<string, unknown> & { head: { hash: string } | null }) => [
      stream['stream_id'],
      stream['status'],
      stream['entries'],
      stream.head?.hash,
    ]),
  };
}

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainOf, packageOf, SEAL_KEY, type SentEntry } from '../support/chain.ts';
import { evidenceProcess } from '../support/process.ts';

const HOOK = resolve(import.meta.dirname, '../support/awaited-threads.mjs');
const ENTRIES = 8000;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'threads-test-'));
  const chain = chainOf(ENTRIES);
  const altered = { ...chain[ENTRIES - 5], actor: 'mallory' } as SentEntry;
  writeFileSync(join(folder, 'intact.json'), JSON.stringify(packageOf(chain)));
  writeFileSync(join(folder, 'altered.json'), JSON.stringify(packageOf(chain.with(ENTRIES - 5, altered))));
  writeFileSync(join(folder, 'key'), SEAL_KEY);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const verify = (file: string, threads: string, nodeFlags: string[] = []) =>
  evidenceProcess(['verify', file, '--json', '--seal-key', 'k1=key', '--threads', threads], { cwd: folder, nodeFlags });

test.each([
  ['intact.json', 0, 'verified'],
  ['altered.json', 1, 'refuted'],
])('verify says the same of %s on three threads as on one', async (file, exitCode, outcome) => {
  const alone = await verify(file, '1');
  const helped = await verify(file, '3', ['--import', HOOK]);
  expect(alone.code, alone.stderr).toBe(exitCode);
  expect(JSON.parse(alone.stdout)).toMatchObject({ outcome, streams: [{ entries: ENTRIES }] });
  expect([helped.code, helped.stdout]).toEqual([alone.code, alone.stdout]);
  expect(helped.stderr).toMatch(/^segments [1-9]/m);
});

const COUNTS_THREADS = `data:text/javascript,
  let started = 0;
  process.on('worker', () => started++);
  process.on('exit', () => process.stderr.write('threads ' + started));`;
const ALL = Math.min(availableParallelism(), 4) - 1;

test.each<[string, string, string[], number, number]>([
  ['for a large file', 'large.json', [], 3, ALL],
  // Threads start before the configuration is read, and end if it cannot be read.
  ['for one that is not read in the end', 'large.json', ['--config', 'nowhere.yaml'], 2, ALL],
  ['for one that one thread is to read', 'large.json', ['--threads', '1'], 3, 0],
  ['for one that is a bundle', 'large.zip', [], 1, 0],
  ['for a small file', 'small.json', [], 3, 0],
])('threads are started %s', async (_words, file, flags, exitCode, threads) => {
  const path = join(folder, file);
  // A truncated package.
  writeFileSync(path, '{"entries": [');
  if (file !== 'small.json') appendFileSync(path, ' '.repeat(33 * 2 ** 20));
  const { code, stderr } = await evidenceProcess(['verify', file, ...flags], {
    cwd: folder,
    nodeFlags: ['--import', COUNTS_THREADS],
  });
  expect([code, stderr]).toEqual([exitCode, expect.stringContaining(`threads ${threads}`)]);
});

test.each(['0', '1.5', '65', 'many'])('--threads %s is refused', async (threads) => {
  const { code, stderr } = await verify('intact.json', threads);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--threads must be a whole number from 1 to 64')]);
});

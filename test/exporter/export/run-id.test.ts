import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { exportOrRevise, findOpenRun } from '../../../src/exporter/export/run-id.ts';

async function archiveWith(...keys: string[]): Promise<Archive> {
  const archive = openMemoryArchive();
  const bytes = Buffer.from('x');
  const content = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
  for (const key of keys) await archive.put(key, { bytes }, content);
  return archive;
}

const FINALIZED = 'runs/2026-10/run.json';
const RUNS: [words: string, keys: string[], revise: boolean, others: string[], blocked: string[], runId: string][] = [
  ['nothing there', [], false, [], [], '2026-10'],
  ['nothing there to revise', [], true, [], [], '2026-10'],
  ['begun', ['runs/2026-10/streams/a.json'], true, [], [], '2026-10'],
  ['finalized', [FINALIZED], false, [], [], '2026-10'],
  ['finalized, to be revised', [FINALIZED], true, [], [], '2026-10.r2'],
  ['finalized, a revision begun', [FINALIZED, 'runs/2026-10.r2/streams/a.json'], true, [], [], '2026-10.r2'],
  ['finalized twice', [FINALIZED, 'runs/2026-10.r2/run.json'], true, [], [], '2026-10.r3'],
  ['finalized twice, not to be revised', [FINALIZED, 'runs/2026-10.r2/run.json'], false, [], [], '2026-10'],
  ['another run finalized', ['runs/2026-10-x/run.json', 'runs/2026-1/run.json'], true, [], [], '2026-10'],
  ['begun with another question', ['runs/2026-10/asked.json'], true, ['2026-10'], [], '2026-10.r2'],
  ['a revision begun with another question', [FINALIZED], true, ['2026-10.r2'], [], '2026-10.r3'],
  ['begun, and not to be gone on with', ['runs/2026-10/x'], true, [], ['2026-10'], '2026-10.r2'],
  [
    'begun twice, neither to be gone on with',
    ['runs/2026-10/x', 'runs/2026-10.r2/x'],
    true,
    ['2026-10'],
    ['2026-10.r2'],
    '2026-10.r3',
  ],
];

test.each(RUNS)('the id of a run: %s', async (_words, keys, revise, others, blocked, expected) => {
  const archive = await archiveWith(...keys);
  const left: string[] = [];
  const whyOther = async (runId: string) => (others.includes(runId) ? new EvidenceError('config', runId) : null);
  const onBlocked = (why: string) => left.push(why);
  const options = { archive, revise, whyOther, whyNotOurs: async () => null, onBlocked };
  const exported = await exportOrRevise(options, '2026-10', async (runId) => {
    if (blocked.includes(runId)) throw new EvidenceError('conflict', runId);
    return runId;
  });
  expect([exported, left]).toEqual([expected, [...others, ...blocked]]);
});

test.each([false, true])('runs that are not ours are superseded, with --revise %s', async (revise) => {
  const archive = await archiveWith('runs/2026-10/asked.json', 'runs/2026-10.r2/asked.json');
  const whyNotOurs = async (runId: string) => (runId === '2026-10.r3' ? null : `${runId} is not ours`);
  const left: string[] = [];
  const options = {
    archive,
    revise,
    whyOther: async () => null,
    whyNotOurs,
    onBlocked: (why: string) => left.push(why),
  };
  const exported = await exportOrRevise(options, '2026-10', async (runId, supersedes) => [runId, ...supersedes]);
  expect(exported).toEqual(['2026-10.r3', '2026-10', '2026-10.r2']);
  expect(left).toEqual(['2026-10 is not ours', '2026-10.r2 is not ours']);
});

test('a revision that is resumed supersedes the runs that were in its way when it was begun', async () => {
  const archive = await archiveWith('runs/2026-10/asked.json', 'runs/2026-10.r2/asked.json', 'runs/2026-10.r3/x');
  const none = async () => null;
  const options = { archive, revise: false, whyOther: none, whyNotOurs: none, onBlocked: () => undefined };
  const exported = await exportOrRevise(options, '2026-10.r3', async (runId, supersedes) => [runId, ...supersedes]);
  expect(exported).toEqual(['2026-10.r3', '2026-10', '2026-10.r2']);
});

test('what cannot be gone on with, and is not to be revised, ends it; so does a run that was not begun', async () => {
  const conflict = new EvidenceError('conflict', 'no');
  const refuse = () => Promise.reject(conflict);
  for (const [keys, revise] of [[['runs/2026-10/x'], false] as const, [[], true] as const]) {
    const options = {
      archive: await archiveWith(...keys),
      revise,
      whyOther: async () => null,
      whyNotOurs: async () => null,
      onBlocked: () => undefined,
    };
    await expect(exportOrRevise(options, '2026-10', refuse)).rejects.toBe(conflict);
  }
});

const OPEN: [words: string, keys: string[], expected: string | null, suffix?: string][] = [
  ['nothing there', [], null],
  ['one begun', ['runs/all-time-2026-10-01/streams/a.json'], 'all-time-2026-10-01'],
  ['one with an attempt only', ['runs/all-time-2026-10-01/attempts/t/attempt.json'], 'all-time-2026-10-01'],
  ['one finalized', ['runs/all-time-2026-10-01/run.json', 'runs/all-time-2026-10-01/streams/a.json'], null],
  [
    'the newest of two',
    ['runs/all-time-2026-10-02/streams/a.json', 'runs/all-time-2026-10-01/streams/a.json'],
    'all-time-2026-10-02',
  ],
  [
    'an older one after one that is finalized',
    ['runs/all-time-2026-10-01/streams/a.json', 'runs/all-time-2026-10-02/run.json'],
    'all-time-2026-10-01',
  ],
  ['a bundle that is called run.json', ['runs/all-time-2026-10-01/streams/run.json'], 'all-time-2026-10-01'],
  ['runs of another kind', ['runs/2026-10/streams/a.json', 'x/all-time-1/y'], null],
  ['one of some streams', ['runs/all-time-2026-10-01_auth-1/asked.json'], null],
  [
    'one of some streams, asked for',
    ['runs/all-time-2026-10-01_auth-1/asked.json'],
    'all-time-2026-10-01_auth-1',
    '_auth-1',
  ],
  ['one of all streams, and some asked for', ['runs/all-time-2026-10-01/asked.json'], null, '_auth-1'],
  [
    'one that was left for a revision, which is finalized',
    ['runs/all-time-2026-10-01/asked.json', 'runs/all-time-2026-10-01.r2/run.json'],
    null,
  ],
  [
    'the tenth revision after the ninth',
    ['runs/all-time-2026-10-01.r9/asked.json', 'runs/all-time-2026-10-01.r10/asked.json'],
    'all-time-2026-10-01.r10',
  ],
  ['a revision', ['runs/all-time-2026-10-01/run.json', 'runs/all-time-2026-10-01.r2/x'], 'all-time-2026-10-01.r2'],
];

test.each(OPEN)('the run that was begun and not finalized: %s', async (_words, keys, expected, suffix = '') => {
  expect(await findOpenRun(await archiveWith(...keys), { prefix: 'all-time-', suffix })).toBe(expected);
});

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { findVanished, type ListedStream, selectStreams } from '../../../src/exporter/export/plan.ts';
import { slugOf } from '../../../src/verifier/bundle/layout.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { readFinalizedRun } from '../../../src/verifier/records/stored-run.ts';
import { runRecord, runStream } from '../../support/records.ts';

async function* list(ids: readonly string[]): AsyncGenerator<ListedStream> {
  for (const streamId of ids)
    yield { streamId, entryCount: 0, headSequence: 0, headDigest: null, drift: null, record: '{}' };
}

async function select(ids: readonly string[], streams: string[] = [], exclude: string[] = []) {
  const { included, excluded } = await selectStreams(list(ids), { streams, exclude });
  return { included: included.map(({ streamId }) => streamId), excluded };
}

const IDS = [
  'a',
  'prod/a',
  'prod/b',
  'prod/eu/a',
  '.hidden',
  'prod/.hidden',
  'v1.2',
  'we[i]rd*',
  '{x,y}',
  'ü \u{1f600}',
  '!a',
  '#a',
  'a/../b',
  'A',
];

const GLOBS: [string, string[]][] = [
  ['a', ['a']],
  ['*', ['a', '.hidden', 'v1.2', 'we[i]rd*', '{x,y}', 'ü \u{1f600}', '!a', '#a', 'A']],
  ['**', IDS],
  ['prod/*', ['prod/a', 'prod/b', 'prod/.hidden']],
  ['prod/**', ['prod/a', 'prod/b', 'prod/eu/a', 'prod/.hidden']],
  ['*/a', ['prod/a']],
  ['**/a', ['a', 'prod/a', 'prod/eu/a']],
  ['prod/?', ['prod/a', 'prod/b']],
  ['prod/[ab]', ['prod/a', 'prod/b']],
  ['prod/{a,eu/a}', ['prod/a', 'prod/eu/a']],
  ['v1.*', ['v1.2']],
  ['v{0..3}.2', ['v1.2']],
  ['v1?2', ['v1.2']],
  ['we[i]rd*', ['we[i]rd*']],
  ['{x,y}', ['{x,y}']],
  ['!a', ['!a']],
  ['#a', ['#a']],
  ['a/../b', ['a/../b']],
  ['b', []],
  ['*.hidden', ['.hidden']],
  ['', []],
];

describe('the streams that --stream names', () => {
  test.each(GLOBS)('%s', async (glob, expected) => {
    const { included, excluded } = await select(IDS, [glob]);
    expect(included).toEqual(expected);
    expect(excluded).toEqual(
      IDS.filter((id) => !expected.includes(id)).map((stream_id) => ({
        stream_id,
        pattern: null,
      })),
    );
  });

  test('all of them when it names none', async () => {
    expect(await select(IDS)).toEqual({ included: IDS, excluded: [] });
  });

  test('any of several', async () => {
    expect((await select(IDS, ['a', 'prod/eu/*'])).included).toEqual(['a', 'prod/eu/a']);
  });
});

test('--exclude outweighs --stream, and says which one it was', async () => {
  expect(await select(['prod/a', 'prod/b', 'test/a'], ['prod/*'], ['x', '*/b', '**/b'])).toEqual({
    included: ['prod/a'],
    excluded: [
      { stream_id: 'prod/b', pattern: '*/b' },
      { stream_id: 'test/a', pattern: null },
    ],
  });
});

test('a stream that is listed twice is refused, in scope or not', async () => {
  for (const exclude of [[], ['a']])
    await expect(select(['a', 'b', 'a'], [], exclude)).rejects.toMatchObject({
      code: 'service',
      message: expect.stringContaining('"a" twice'),
    });
});

test('streams that would lie in the same place are refused together, and exported apart', async () => {
  // Ids found by trying: they have no readable characters, and 32 bits of their digests are equal.
  const [one, other] = ['支付三三四七七', '支付七四三六九'];
  expect(slugOf(one)).toBe(slugOf(other));
  await expect(select([one, 'a', other])).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(`"${one}" and "${other}" would have the same name in the archive: ${slugOf(one)}`),
    nextStep: expect.stringContaining('--exclude'),
  });
  expect((await select([one, 'a', other], [], [other])).included).toEqual([one, 'a']);
});

test('more streams than a run can record are refused before any is exported, and exported in parts', async () => {
  // Ids of 7,000 bytes appear ten times each, so 16,000 streams are too many.
  const ids = Array.from({ length: 16_000 }, (_, index) => `s${index}${'x'.repeat(7000)}`);
  await expect(select(ids)).rejects.toMatchObject({ code: 'usage', nextStep: expect.stringContaining('--stream') });
  expect((await select(ids, ['s1*'])).included).toHaveLength(7111);
});

test('streams that vanished are those in scope that the ledger knows and nobody lists', async () => {
  const scope = { streams: ['prod/*'], exclude: ['prod/x'], request: null, requestedBy: null };
  const selection = await selectStreams(list(['prod/a', 'other']), scope);
  const head = { sequence: 7, hash: 'd', run_id: '2026-09' };
  const heads = new Map(['prod/a', 'prod/b', 'prod/x', 'other', 'gone'].map((id) => [id, head]));
  expect(findVanished(selection, scope, heads, new Map())).toMatchObject([
    {
      stream_id: 'prod/b',
      head,
      finding: { code: 'continuity/stream-vanished', severity: 'error' },
    },
  ]);
});

async function put(archive: Archive, key: string, bytes: Uint8Array = Buffer.from('x')): Promise<void> {
  await archive.put(key, { bytes }, { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length });
}

async function archiveWith(...keys: string[]): Promise<Archive> {
  const archive = openMemoryArchive();
  for (const key of keys) await put(archive, key);
  return archive;
}

describe('a finalized run', () => {
  test('is its record and the digest of its bytes', async () => {
    const archive = openMemoryArchive();
    const record = runRecord('2026-10', [runStream('s')]);
    const bytes = toRecordBytes(record);
    await put(archive, 'runs/2026-10/run.json', bytes);
    expect(await readFinalizedRun(archive, '2026-10')).toEqual({
      record,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    expect(await readFinalizedRun(archive, '2026-09')).toBeNull();
  });

  test('whose record cannot be read is not one that is absent', async () => {
    const archive = await archiveWith('runs/2026-10/run.json');
    await expect(readFinalizedRun(archive, '2026-10')).rejects.toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining('runs/2026-10/run.json'),
    });
  });
});

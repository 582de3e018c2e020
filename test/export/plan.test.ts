import { describe, expect, test } from 'vitest';
import { openMemoryArchive } from '../../src/archive/memory.ts';
import { sha256 } from '../../src/encoding/digest.ts';
import { findOpenRun, findVanished, resolveRunId, selectStreams } from '../../src/export/plan.ts';

const scopeOf = (streams: string[], exclude: string[] = []) => ({ streams, exclude, request: null, requestedBy: null });
async function* listing(...ids: string[]) {
  for (const streamId of ids) yield { streamId, entryCount: 1, headSequence: 1, headDigest: null };
}
const IDS = ['payments', 'prod/api', 'prod/db/main', 's3.amazonaws.com', '[odd]', '.hidden'];

describe('which streams are in scope', () => {
  test.each<[string[], string[], string[]]>([
    [[], [], IDS],
    [['payments'], [], ['payments']],
    [['prod/*'], [], ['prod/api']],
    [['prod/**'], [], ['prod/api', 'prod/db/main']],
    [['*'], [], ['payments', 's3.amazonaws.com', '[odd]', '.hidden']],
    [['*.amazonaws.com'], [], ['s3.amazonaws.com']],
    [['[odd]'], [], ['[odd]']],
    [[], ['prod/**', '.hidden'], ['payments', 's3.amazonaws.com', '[odd]']],
    [['prod/**'], ['**/main'], ['prod/api']],
  ])('--stream %j --exclude %j', async (streams, exclude, expected) => {
    const { included, excluded } = await selectStreams(listing(...IDS), scopeOf(streams, exclude));
    expect(included.map(({ streamId }) => streamId)).toEqual(expected);
    expect(excluded.map(({ stream_id }) => stream_id).sort()).toEqual(
      IDS.filter((id) => !expected.includes(id)).sort(),
    );
    expect(excluded.every(({ reason }) => reason.length > 5)).toBe(true);
  });

  test('a stream that is listed twice is refused', async () => {
    await expect(selectStreams(listing('a', 'b', 'a'), scopeOf([]))).rejects.toMatchObject({
      code: 'service',
      message: /"a" twice/,
    });
  });
});

test('streams that the ledger knows and the service does not list have vanished, as far as they are in scope', async () => {
  const heads = new Map(['payments', 'gone', 'prod/gone'].map((id) => [id, { sequence: 4, digest: 'd', runId: 'r' }]));
  const scope = scopeOf([], ['prod/*']);
  const selection = await selectStreams(listing(...IDS), scope);
  expect(findVanished(selection, scope, heads)).toMatchObject([
    { stream_id: 'gone', sequence: 4, run_id: 'r', finding: { code: 'continuity/stream-vanished', severity: 'error' } },
  ]);
});

describe('the id of a run', () => {
  const archiveOf = async (...keys: string[]) => {
    const archive = openMemoryArchive();
    const bytes = Buffer.from('x');
    for (const key of keys) await archive.put(key, { bytes }, { sha256: sha256(bytes), bytes: 1 });
    return archive;
  };

  test.each([
    ['is as wished', [], true, '2026-10'],
    ['stays while it is open', ['runs/2026-10/streams/a.zip'], true, '2026-10'],
    ['stays when no revision is wanted', ['runs/2026-10/run.json'], false, '2026-10'],
    ['is the next revision', ['runs/2026-10/run.json'], true, '2026-10.r2'],
    ['is the one after that', ['runs/2026-10/run.json', 'runs/2026-10.r2/run.json'], true, '2026-10.r3'],
    ['goes on with an open revision', ['runs/2026-10/run.json', 'runs/2026-10.r2/streams/a.zip'], true, '2026-10.r2'],
  ])('%s', async (_words, keys, revise, expected) => {
    expect(await resolveRunId(await archiveOf(...keys), '2026-10', revise)).toBe(expected);
  });

  test('an open run is found by the beginning of its id', async () => {
    const archive = await archiveOf(
      'runs/all-time-2026-11-01/run.json',
      'runs/all-time-2026-11-02/streams/a.zip',
      'runs/2026-10/streams/a.zip',
    );
    expect(await findOpenRun(archive, 'all-time-')).toBe('all-time-2026-11-02');
    expect(await findOpenRun(await archiveOf('runs/all-time-2026-11-01/run.json'), 'all-time-')).toBeNull();
  });
});

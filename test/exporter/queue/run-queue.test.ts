import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Plan } from '../../../src/exporter/export/handed-out.ts';
import type { ListedStream } from '../../../src/exporter/export/plan.ts';
import type { StreamOutcome } from '../../../src/exporter/export/stream-jobs.ts';
import { QueueDatabase } from '../../../src/exporter/queue/database.ts';
import { endedStreams } from '../../../src/exporter/queue/ended-streams.ts';
import { listRuns, readProgress, readTroubles } from '../../../src/exporter/queue/progress.ts';
import { type HeldStream, RunQueue } from '../../../src/exporter/queue/run-queue.ts';
import { slugOf } from '../../../src/verifier/bundle/layout.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { streamRecord } from '../../support/records.ts';

const OPTIONS = {
  supersedes: [],
  finalize_partial: false,
  begin_signing: false,
  service_moved: false,
  trace_parent: null,
  deadline_at: null,
};
const STARTED = new Date('2026-11-01T00:00:00.000Z');

let server: PostgresServer;
let url: string;
let database: QueueDatabase;
let queue: RunQueue;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

beforeEach(async ({ onTestFinished }) => {
  url = await server.createDatabase();
  database = new QueueDatabase({
    url,
    schema: 'evidence',
    signal: new AbortController().signal,
    note: () => undefined,
  });
  queue = await RunQueue.open(database, { supervises: false });
  onTestFinished(async () => {
    await queue[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
});

function listed(streamId: string): ListedStream {
  return {
    streamId,
    entryCount: 3,
    headSequence: 3,
    headDigest: null,
    drift: null,
    record: `{"id":"${streamId}"}`,
  };
}

function planOf(ids: readonly string[], more: Partial<Plan> = {}): Plan {
  return { startedAt: STARTED, streams: ids.map(listed), excluded: 1, left: new Set(), ...more };
}

function recorded(streamId: string): StreamOutcome {
  const record = streamRecord(streamId);
  return {
    kind: 'recorded',
    stored: { record, key: `k/${streamId}`, bytes: 1, sha256: 'a'.repeat(64) },
    recovered: null,
  };
}

function failed(streamId: string): StreamOutcome {
  return {
    kind: 'failed',
    failure: { stream_id: streamId, code: 'unreachable', reason: 'it is gone', next_step: 'Look for it.' },
  };
}

async function take(): Promise<HeldStream> {
  const held = await queue.takeStream('w');
  if (held === null) throw new Error('there is no stream to take');
  return held;
}

const progress = async () => {
  const found = await readProgress(database, 'r');
  if (found === null) throw new Error('the run is not there');
  return { ...found, failures: await readTroubles(database, 'r') };
};

test('each stream is taken once, as the service lists it, and whoever ends the last one asks for the conclusion', async () => {
  expect(await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a', 'b']))).toBe(true);
  const [first, second] = [await take(), await take()];
  expect([first.stream.streamId, second.stream.streamId].sort()).toEqual(['a', 'b']);
  expect(first.stream).toEqual(listed(first.stream.streamId));
  expect(first).toMatchObject({ runId: 'r', startedAt: STARTED, options: OPTIONS, mayBeLeft: false });
  expect(await queue.takeStream('w')).toBeNull();
  await queue.settle(first, recorded(first.stream.streamId));
  expect(await queue.takeConclusion('w')).toBeNull();
  await queue.settle(second, failed(second.stream.streamId));
  const conclusion = await queue.takeConclusion('w');
  expect(conclusion).toMatchObject({ runId: 'r', startedAt: STARTED, options: OPTIONS });
  expect(await queue.takeConclusion('w')).toBeNull();
});

test('a stream that two workers end counts once', async () => {
  await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a', 'b']));
  const held = await take();
  const { streamId } = held.stream;
  await queue.settle(held, recorded(streamId));
  await queue.settle(held, failed(streamId));
  expect(await progress()).toMatchObject({ streams: 2, recorded: 1, failed: 0, state: 'exporting' });
  expect(await queue.takeConclusion('w')).toBeNull();
});

test('what is given back is taken again, and may have left something', async () => {
  await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a']));
  await queue.giveBack(await take(), { code: 'archive', reason: 'the disk is full', next_step: null });
  expect((await progress()).failures).toEqual([
    { streamId: 'a', state: 'tried again', code: 'archive', reason: 'the disk is full', nextStep: '' },
  ]);
  await expect.poll(() => queue.takeStream('v')).toMatchObject({ mayBeLeft: true, stream: { streamId: 'a' } });
  const { workers } = await progress();
  expect(workers).toMatchObject([{ name: 'v', secondsSilent: null, streams: [{ streamId: 'a', tries: 2 }] }]);
});

test('a stream that an earlier attempt left something of says so', async () => {
  await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a'], { left: new Set([slugOf('a')]) }));
  expect((await take()).mayBeLeft).toBe(true);
});

test('a run that is under way is not handed out again; one that has ended is, and its old jobs do nothing', async () => {
  await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a', 'b']));
  expect(await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a', 'b']))).toBe(false);
  await database.query("UPDATE evidence.runs SET state = 'ended'");
  const later = new Date('2026-11-02T00:00:00.000Z');
  expect(await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['c'], { startedAt: later }))).toBe(true);
  expect((await take()).stream.streamId).toBe('c');
  expect(await queue.takeStream('w')).toBeNull();
});

test('what ended a month ago goes when the next run is handed out', async () => {
  await queue.handOut({ runId: 'old', options: OPTIONS }, planOf(['a']));
  await queue.beat('gone', []);
  await database.query("UPDATE evidence.runs SET state = 'ended', ended_at = now() - interval '29 days'");
  await database.query("UPDATE evidence.workers SET seen_at = now() - interval '31 days'");
  await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a']));
  expect(await listRuns(database)).toEqual(['r', 'old']);
  expect(await database.query('SELECT 1 FROM evidence.workers')).toEqual([]);
  await database.query("UPDATE evidence.runs SET ended_at = now() - interval '31 days' WHERE run_id = 'old'");
  await queue.handOut({ runId: 's', options: OPTIONS }, planOf(['a']));
  expect((await listRuns(database)).sort()).toEqual(['r', 's']);
  expect(await database.query("SELECT 1 FROM evidence.streams WHERE run_id = 'old'")).toEqual([]);
});

test('a plan is handed out whole or not at all', async () => {
  const broken = {
    ...listed('b'),
    get record(): string {
      throw new Error('the record cannot be read');
    },
  };
  await expect(
    queue.handOut({ runId: 'r', options: OPTIONS }, { ...planOf(['a']), streams: [listed('a'), broken] }),
  ).rejects.toThrow('cannot be read');
  expect(await readProgress(database, 'r')).toBeNull();
  expect(await queue.takeStream('w')).toBeNull();
  expect(await queue.isIdle()).toBe(true);
});

test('a stream that is given back too often is lost, and the run goes on without it', async () => {
  await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a']));
  await database.query("UPDATE evidence.job SET retry_limit = 0 WHERE name = 'streams'");
  await queue.giveBack(await take(), { code: 'archive', reason: 'the disk is full', next_step: 'Make room.' });
  expect(await queue.takeStream('w')).toBeNull();
  expect(await queue.settleLost()).toBe(true);
  expect(await queue.settleLost()).toBe(false);
  expect((await progress()).failures).toMatchObject([
    { streamId: 'a', state: 'failed', reason: expect.stringContaining('the disk is full'), nextStep: 'Make room.' },
  ]);
  const conclusion = await queue.takeConclusion('w');
  expect(conclusion).not.toBeNull();
});

describe('how streams ended', () => {
  test('is known to the conclusion: those not recorded as they ended, records by their digest', async () => {
    await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a', 'b', 'c']));
    const record = streamRecord('c');
    const ends: Record<string, StreamOutcome> = {
      a: recorded('a'),
      b: failed('b'),
      c: { kind: 'incomplete', record, recovered: { record, unread: true }, isRefused: true },
    };
    for (let n = 0; n < 3; n++) {
      const held = await take();
      const end = ends[held.stream.streamId];
      if (end !== undefined) await queue.settle(held, end);
    }
    const handedOut = endedStreams(database, { runId: 'r', startedAt: STARTED });
    expect(await handedOut.outcomeOf(listed('a'))).toBeNull();
    expect(await handedOut.outcomeOf(listed('b'))).toEqual(ends['b']);
    expect(await handedOut.outcomeOf(listed('c'))).toEqual(ends['c']);
    expect(await handedOut.outcomeOf(listed('d'))).toBeNull();
    const keyOf = (id: string) => `runs/r/streams/${slugOf(id)}.json`;
    expect(await handedOut.recordedAs({ key: keyOf('a'), sha256: 'a'.repeat(64) })).toMatchObject({ recovered: null });
    expect(await handedOut.recordedAs({ key: keyOf('a'), sha256: 'b'.repeat(64) })).toBeNull();
    expect(await handedOut.recordedAs({ key: keyOf('b'), sha256: 'a'.repeat(64) })).toBeNull();
  });

  test.each([
    ['another kind', '{"kind":"proved"}'],
    ['no JSON', 'x'],
    ['a record of another form', '{"kind":"incomplete","record":{},"recovered":null,"is_refused":false}'],
  ])('is not believed as %s', async (_name, text) => {
    await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a']));
    await database.query("UPDATE evidence.streams SET kind = 'failed', outcome = $1", [text]);
    const handedOut = endedStreams(database, { runId: 'r', startedAt: STARTED });
    await expect(handedOut.outcomeOf(listed('a'))).rejects.toMatchObject({ code: 'unreadable' });
    await expect(readTroubles(database, 'r')).rejects.toMatchObject({ code: 'unreadable' });
  });
});

describe('a run', () => {
  test('ends with what it came to', async () => {
    await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a']));
    const held = await take();
    await queue.settle(held, recorded('a'));
    expect(await progress()).toMatchObject({ state: 'concluding', recorded: 1, secondsLeft: null });
    const conclusion = await queue.takeConclusion('w');
    if (conclusion === null) throw new Error('nothing to conclude');
    expect((await progress()).workers).toEqual([]);
    const result = { state: 'finalized', outcome: 'verified', exit_code: 0, refused: false, record: null } as const;
    await queue.conclude(conclusion, result);
    expect(await progress()).toMatchObject({ state: 'ended', conclusion: result, failure: null });
    expect(await queue.isIdle()).toBe(true);
    expect(await listRuns(database)).toEqual(['r']);
  });

  test('that cannot be concluded ends with why', async () => {
    await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a']));
    await queue.settle(await take(), recorded('a'));
    const conclusion = await queue.takeConclusion('w');
    if (conclusion === null) throw new Error('nothing to conclude');
    const failure = { code: 'conflict', reason: 'a stranger was here', next_step: null } as const;
    await queue.failConclusion(conclusion, failure);
    expect(await progress()).toMatchObject({ state: 'ended', conclusion: null, failure });
  });

  test('whose conclusion is given back too often ends with the last reason', async () => {
    await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a']));
    await queue.settle(await take(), recorded('a'));
    await database.query("UPDATE evidence.job SET retry_limit = 0 WHERE name = 'conclusions'");
    const conclusion = await queue.takeConclusion('w');
    if (conclusion === null) throw new Error('nothing to conclude');
    const failure = { code: 'archive', reason: 'the disk is full', next_step: 'Make room.' } as const;
    await queue.giveConclusionBack(conclusion, failure);
    expect(await queue.settleLost()).toBe(true);
    expect(await progress()).toMatchObject({ state: 'ended', conclusion: null, failure });
  });
});

test('the rate is that of the last minute, and says when the rest will have ended', async () => {
  await queue.handOut({ runId: 'r', options: OPTIONS }, planOf(['a', 'b', 'c', 'd']));
  for (let n = 0; n < 2; n++) {
    const held = await take();
    await queue.settle(held, recorded(held.stream.streamId));
  }
  await database.query(
    "UPDATE evidence.streams SET taken_at = now() - interval '10 seconds' WHERE taken_at IS NOT NULL",
  );
  const { perSecond, secondsLeft } = await progress();
  expect(perSecond).toBeGreaterThan(0.15);
  expect(perSecond).toBeLessThanOrEqual(0.2);
  expect(secondsLeft).toBeGreaterThanOrEqual(10);
  expect(secondsLeft).toBeLessThanOrEqual(13);
});

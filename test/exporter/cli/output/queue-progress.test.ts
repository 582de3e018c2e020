import { expect, test } from 'vitest';
import { describeProgress, workerLines } from '../../../../src/exporter/cli/output/queue-progress.ts';
import type { RunProgress, WorkerProgress } from '../../../../src/exporter/queue/progress.ts';

const RUN: RunProgress = {
  runId: '2026-10',
  startedAt: new Date('2026-11-01T00:00:00Z'),
  state: 'exporting',
  endedAt: null,
  streams: 200,
  excluded: 0,
  recorded: 130,
  incomplete: 0,
  failed: 0,
  perSecond: 2,
  secondsLeft: 35,
  workers: [],
  conclusion: null,
  failure: null,
};

test.each<[Partial<RunProgress>, string]>([
  [{}, 'Run 2026-10: 130 of 200 streams done, 2.0 a second, about 35 s left'],
  [{ secondsLeft: null }, 'Run 2026-10: 130 of 200 streams done'],
  [{ secondsLeft: 600 }, 'Run 2026-10: 130 of 200 streams done, 2.0 a second, about 10 min left'],
  [{ secondsLeft: 9000 }, 'Run 2026-10: 130 of 200 streams done, 2.0 a second, about 2.5 h left'],
  [{ recorded: 1, streams: 1, state: 'concluding' }, 'Run 2026-10: 1 of 1 stream done; being finalized'],
  [
    { recorded: 197, incomplete: 1, failed: 2, state: 'ended' },
    'Run 2026-10: 200 of 200 streams done, including 1 incomplete and 2 failed; ended',
  ],
])('one line on a run: %j', (more, line) => {
  expect(describeProgress({ ...RUN, ...more })).toBe(line);
});

const stream = (streamId: string, seconds: number, tries = 1) => ({ streamId, seconds, tries });

test.each<[Partial<WorkerProgress>, string]>([
  [{}, '  host:1  idle'],
  [{ streams: [stream('a', 3), stream('b', 95, 2)] }, '  host:1  a (3 s), b (2 min, try 2)'],
  [
    { streams: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => stream(id, 1)) },
    '  host:1  a (1 s), b (1 s), c (1 s), d (1 s), and 2 more',
  ],
  [{ concludes: true }, '  host:1  finalizing the run'],
  [{ secondsSilent: 33 }, '  host:1  no heartbeat for 33 s'],
  [{ secondsSilent: 33, streams: [stream('a', 40)] }, '  host:1  no heartbeat for 33 s; streams to reassign: a (40 s)'],
  [{ secondsSilent: null, streams: [stream('a', 40)] }, '  host:1  no heartbeat; streams to reassign: a (40 s)'],
])('a line for a worker: %j', (more, line) => {
  expect(
    workerLines({ ...RUN, workers: [{ name: 'host:1', secondsSilent: 2, streams: [], concludes: false, ...more }] }),
  ).toEqual([line]);
});

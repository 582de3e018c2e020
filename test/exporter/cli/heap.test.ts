import { expect, test } from 'vitest';
import { holdHeapAt } from '../../../src/exporter/cli/heap.ts';
import type { ExportEvent } from '../../../src/exporter/export/events.ts';

const planned = (streams: number, done: number): ExportEvent => ({
  type: 'planned',
  runId: 'r',
  streams,
  done,
  excluded: 0,
  entryCounts: [],
});

const EVENTS: [string, ExportEvent, number[]][] = [
  ['few streams', planned(20, 0), [200]],
  ['the most that are few', planned(1, 1999), [200]],
  ['many streams', planned(2001, 0), []],
  ['many streams, most of them done', planned(1, 2000), []],
  ['the reports', { type: 'concluding', runId: 'r' }, [10]],
  ['anything else', { type: 'finalized', runId: 'r', outcome: 'verified' }, []],
];
test.each(EVENTS)('the heap of an export: %s', (_words, event, expected) => {
  const growths: number[] = [];
  holdHeapAt(event, (growth) => growths.push(growth));
  expect(growths).toEqual(expected);
});

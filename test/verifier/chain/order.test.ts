import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { OrderCheck } from '../../../src/verifier/chain/order.ts';
import type { Run } from '../../../src/verifier/chain/runs.ts';
import { ReferenceDecoder } from '../../../src/verifier/decode/reference/decoder.ts';
import type { Entry } from '../../../src/verifier/model/entry.ts';
import { FindingLog } from '../../../src/verifier/model/finding-log.ts';
import type { StreamFinding } from '../../../src/verifier/model/stream-finding.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { GENESIS } from '../../support/chain.ts';
import { someRows } from '../../support/some-rows.ts';

const CHAIN = { genesis: GENESIS, firstSequence: 1 };

/** Keeps every finding. */
class FullLog extends FindingLog {
  readonly all: StreamFinding[] = [];
  override add(finding: StreamFinding): void {
    this.all.push(finding);
    super.add(finding);
  }
  override addAt(_code: StreamFinding['code'], _sequence: number, make: () => StreamFinding): void {
    this.add(make());
  }
}

const digestOf = (sequence: number) => sequence.toString(16).padStart(64, 'd');

function entry(sequence: number, more: Partial<Entry> = {}): Run {
  const read: Entry = {
    streamId: 's',
    sequence,
    entryId: `e-${sequence}`,
    timestamp: '2026-10-01T00:00:00.000Z',
    previous: sequence === 1 ? GENESIS : digestOf(sequence - 1),
    digest: digestOf(sequence),
    digestText: digestOf(sequence),
    content: { state: 'computed', keyId: null, unhashed: [], digest: digestOf(sequence) },
    seal: null,
    words: () => ({ occurredAt: null, actor: null, action: null, corrected: null }),
    ...more,
  };
  const { batch } = new ReferenceDecoder({ ...defaultContract, readEntry: () => read }, new Map()).decode(
    BYTES,
    0,
    'next',
  );
  if (batch === null) throw new Error('an entry makes a batch');
  return { batch, from: 0, to: 1 };
}

const BYTES = Buffer.from('{}');

function check(sequences: Iterable<number>) {
  const log = new FullLog();
  const order = new OrderCheck('s', CHAIN, log);
  for (const sequence of sequences) order.push(entry(sequence));
  return { log, ends: order.finish() };
}

function* odd(below: number): Generator<number> {
  for (let sequence = 1; sequence < below; sequence += 2) yield sequence;
}

describe('more holes than are kept open', () => {
  const [WRITTEN = 0] = someRows([20_000, 50_000], () => 'holes').slice(-1);
  const missing = Array.from({ length: WRITTEN - 1 }, (_, index) => 2 * index + 2);
  const log = new FullLog();
  const order = new OrderCheck('s', CHAIN, log);
  let open: number;
  let ends: ReturnType<OrderCheck['finish']>;

  beforeAll(() => {
    for (const sequence of odd(2 * WRITTEN)) order.push(entry(sequence));
    open = WRITTEN - 1 - log.all.length;
    // The hole of this entry was closed long ago.
    order.push(entry(2));
    ends = order.finish();
  });

  test('every other entry is missing: every gap is reported, once', () => {
    const gaps = log.all.filter(({ code }) => code === 'order/gap');
    expect(gaps.every(({ from, to }) => from === to)).toBe(true);
    expect(gaps.map(({ from }) => from)).toEqual(missing);
    expect(ends).toMatchObject({ first: { from: 1 }, last: { sequence: 2 * WRITTEN - 1 } });
  });

  test('the count is exact where the details are not kept', () => {
    expect(log.errors('order')).toBe(WRITTEN);
    expect(log.list().map(({ from }) => from)).toEqual(missing.slice(0, 1000));
  });

  test('what arrives in a hole that was closed is reported', () => {
    expect(log.all.filter(({ sequence }) => sequence === 2)).toHaveLength(1);
    expect(log.all).toHaveLength(WRITTEN);
  });

  test('memory does not grow with the holes', () => {
    expect(open).toBeLessThan(10_000);
  });
});

test('property: gaps, late arrivals and ends are those of the numbers, in whatever order they come', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(numbers, (sequences) => {
      const { log, ends } = check(sequences);
      const [low, high] = [Math.min(...sequences), Math.max(...sequences)];
      expect(ends).toMatchObject({ first: { from: low }, last: { sequence: high, digest: digestOf(high) } });
      const gaps = log.all.filter(({ code }) => code === 'order/gap');
      const missing = gaps.flatMap(({ from = 0, to = 0 }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
      const seen = new Set(sequences);
      const expected = Array.from({ length: high - low + 1 }, (_, index) => low + index).filter((n) => !seen.has(n));
      expect(missing).toEqual(expected);
      // Adjacent missing numbers are one gap.
      expect(
        gaps.every(({ to }, index) => index === gaps.length - 1 || (gaps[index + 1]?.from ?? 0) > (to ?? 0) + 1),
      ).toBe(true);
      const late = sequences.filter((sequence, index) => sequences.slice(0, index).some((other) => other > sequence));
      expect(log.all.filter(({ code }) => code === 'order/reordered').map(({ sequence }) => sequence)).toEqual(late);
      expect(log.all).toHaveLength(gaps.length + late.length);
    }),
    { numRuns: 500 },
  );
});

test('property: a link that is wrong is found wherever both its ends are there, in whatever order they come', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7, 8, 9], { minLength: 2 }),
      fc.integer({ min: 2, max: 9 }),
      (sequences, broken) => {
        const log = new FullLog();
        const order = new OrderCheck('s', CHAIN, log);
        for (const sequence of sequences)
          order.push(entry(sequence, sequence === broken ? { previous: 'b'.repeat(64) } : {}));
        order.finish();
        const both = sequences.includes(broken) && sequences.includes(broken - 1);
        expect(log.all.filter(({ code }) => code === 'order/broken-link').map(({ sequence }) => sequence)).toEqual(
          both ? [broken] : [],
        );
      },
    ),
  );
});

test('nothing at all has no ends', () => {
  expect(check([])).toMatchObject({ ends: null, log: { all: [] } });
});

test('a timestamp that is no date is compared with nothing', () => {
  const log = new FullLog();
  const order = new OrderCheck('s', CHAIN, log);
  for (const [sequence, timestamp] of [
    [1, '2026-10-01T00:00:00Z'],
    [2, 'yesterday'],
    [3, '2026-09-01T00:00:00Z'],
  ] as const)
    order.push(entry(sequence, { timestamp }));
  order.finish();
  expect(log.all).toEqual([]);
});

test('of many forks every one is reported, and memory does not grow with them', () => {
  const log = new FullLog();
  const order = new OrderCheck('s', CHAIN, log);
  order.push(entry(1));
  for (let fork = 0; fork < 100; fork++) order.push(entry(1, { digest: digestOf(1000 + fork) }));
  order.push(entry(2, { previous: digestOf(1003) }));
  order.finish();
  expect(log.all.map(({ code }) => code)).toEqual(Array(100).fill('order/fork'));
});

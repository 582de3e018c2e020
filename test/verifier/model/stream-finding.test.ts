import { describe, expect, test } from 'vitest';
import { FindingLog, KEPT_FINDINGS } from '../../../src/verifier/model/finding-log.ts';
import { type StreamFindingCode, toStreamFinding } from '../../../src/verifier/model/stream-finding.ts';
import { bare } from '../../support/chain.ts';

function logOf(code: StreamFindingCode, sequences: number[]): FindingLog {
  const log = new FindingLog();
  for (const sequence of sequences)
    log.add(
      toStreamFinding(code, 's', `found at ${sequence}`, {
        sequence,
        entryId: `e-${sequence}`,
        expected: 'x',
        actual: 'y',
      }),
    );
  return log;
}

describe('neighbouring findings of one code become a range', () => {
  const cases: [StreamFindingCode, number[], string[]][] = [
    ['content/mismatch', [3], ['content/mismatch 3']],
    ['content/mismatch', [3, 4], ['content/mismatch 3-4']],
    ['content/mismatch', [3, 4, 5, 7, 8, 10], ['content/mismatch 3-5', 'content/mismatch 7-8', 'content/mismatch 10']],
    ['content/mismatch', [4, 3], ['content/mismatch 3', 'content/mismatch 4']],
    ['content/mismatch', [3, 3], ['content/mismatch 3', 'content/mismatch 3']],
    ['seal/unknown-key', [1, 2, 3], ['seal/unknown-key 1-3']],
    ['seal/mismatch', [1, 2], ['seal/mismatch 1-2']],
    ['content/ambiguous-json', [1, 2], ['content/ambiguous-json 1-2']],
    ['order/foreign-entry', [1, 2], ['order/foreign-entry 1-2']],
    ['order/clock-backwards', [1, 2], ['order/clock-backwards 1-2']],
    ['order/fork', [1, 2], ['order/fork 1', 'order/fork 2']],
    ['order/duplicate', [1, 2], ['order/duplicate 1', 'order/duplicate 2']],
    ['order/reordered', [1, 2], ['order/reordered 1', 'order/reordered 2']],
    ['order/broken-link', [1, 2], ['order/broken-link 1', 'order/broken-link 2']],
  ];
  test.each(cases)('%s at %j', (code, sequences, expected) => {
    const log = logOf(code, sequences);
    expect(bare(log.list())).toEqual(expected);
    expect(log.total()).toBe(sequences.length);
  });

  test('a range names no single entry, digest or value', () => {
    const [range] = logOf('content/mismatch', [3, 4, 5]).list();
    expect(range).toMatchObject({ from: 3, to: 5, message: expect.stringMatching(/each of these.*found at 3/) });
    for (const name of ['sequence', 'entry_id', 'expected', 'actual']) expect(range).not.toHaveProperty(name);
  });

  test('findings of another code in between do not part a range', () => {
    const log = new FindingLog();
    for (const sequence of [1, 2, 3])
      for (const code of ['content/mismatch', 'seal/mismatch', 'content/ambiguous-json'] as const)
        log.add(toStreamFinding(code, 's', 'found', { sequence }));
    expect(bare(log.list())).toEqual(['content/mismatch 1-3', 'content/ambiguous-json 1-3', 'seal/mismatch 1-3']);
  });

  test('the finding that was added stays as it was', () => {
    const log = new FindingLog();
    const first = toStreamFinding('seal/mismatch', 's', 'first', { sequence: 1 });
    log.add(first);
    log.add(toStreamFinding('seal/mismatch', 's', 'second', { sequence: 2 }));
    expect(first).toMatchObject({ sequence: 1, message: 'first' });
  });
});

describe('beyond what is kept', () => {
  test('the count is exact, claim by claim and severity by severity', () => {
    const log = new FindingLog();
    for (let sequence = 1; sequence <= 2500; sequence++) {
      log.add(toStreamFinding('order/fork', 's', 'fork', { sequence }));
      if (sequence % 2 === 0) log.add(toStreamFinding('order/clock-backwards', 's', 'clock', { sequence }));
      if (sequence % 5 === 0) log.add(toStreamFinding('seal/mismatch', 's', 'seal', { sequence }));
    }
    log.add(toStreamFinding('continuity/unknown-start', 's', 'start', { sequence: 1 }));
    expect(['order', 'seal', 'content', 'continuity'].map((claim) => log.errors(claim))).toEqual([2500, 500, 0, 0]);
    expect(log.total()).toBe(2500 + 1250 + 500 + 1);
    const kept = log.list();
    expect(kept.filter(({ code }) => code.startsWith('order/'))).toHaveLength(KEPT_FINDINGS);
    expect(kept.filter(({ code }) => code.startsWith('seal/'))).toHaveLength(500);
  });

  test('a range that is kept still grows', () => {
    const log = logOf(
      'content/mismatch',
      Array.from({ length: KEPT_FINDINGS }, (_, index) => 2 * index + 1),
    );
    const last = 2 * KEPT_FINDINGS - 1;
    for (let sequence = last + 1; sequence <= last + 10; sequence++)
      log.add(toStreamFinding('content/mismatch', 's', 'found', { sequence }));
    expect(log.list().at(-1)).toMatchObject({ from: last, to: last + 10 });
    expect(log.errors('content')).toBe(KEPT_FINDINGS + 10);
  });
});

test('the list is in the order of the places, claim by claim', () => {
  const log = new FindingLog();
  log.add(toStreamFinding('order/reordered', 's', 'late', { sequence: 9 }));
  log.add(toStreamFinding('content/mismatch', 's', 'edit', { sequence: 2 }));
  log.add(toStreamFinding('order/gap', 's', 'gap', { from: 3, to: 4 }));
  expect(bare(log.list())).toEqual(['order/gap 3-4', 'order/reordered 9', 'content/mismatch 2']);
});

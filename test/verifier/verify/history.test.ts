import { describe, expect, test } from 'vitest';
import { RowMap } from '../../../src/core/rows/map.ts';
import type { Span, SpanEntries } from '../../../src/verifier/claims/schemas.ts';
import type { LedgerEntry } from '../../../src/verifier/ledger/ledger.ts';
import { coverageOf } from '../../../src/verifier/records/coverage.ts';
import type { LedgerHead } from '../../../src/verifier/records/record.ts';
import { History } from '../../../src/verifier/verify/history.ts';
import { chainOf, GENESIS, packageOf, readPackage, type SentEntry, STREAM, sealed } from '../../support/chain.ts';
import { DIGEST, runRecord } from '../../support/records.ts';

const intact = chainOf(30);
const other = rewritten(intact, 5);

function rewritten(entries: readonly SentEntry[], from: number): SentEntry[] {
  const after: SentEntry[] = [];
  for (const entry of entries) {
    const change = entry.sequence === from ? { actor: 'm' } : {};
    after.push(sealed({ ...entry, ...change, prev_hash: after.at(-1)?.hash ?? GENESIS }));
  }
  return after;
}

/** Returns the entries that a run had of a chain. */
function spanOf(chain: readonly SentEntry[], first: number, last: number): SpanEntries {
  const at = (sequence: number) => chain[sequence - 1];
  return {
    first_sequence: first,
    head: { sequence: last, hash: at(last)?.hash ?? '' },
    previous_hash: at(first - 1)?.hash ?? GENESIS,
    first_recorded_at: at(first)?.timestamp ?? null,
    last_recorded_at: at(last)?.timestamp ?? null,
    digests_bind: true,
    entries_sha256: null,
    agrees: true,
  };
}

const ALL: Span['period'] = { from: null, to: null };
const common = {
  format: 'evidence-ledger-entry/7' as const,
  previous_sha256: DIGEST,
  created_at: 'then',
  audit_url: 'u',
};
const coverage = coverageOf(runRecord('r', []));
const head = { sequence: 1, hash: DIGEST, run_id: 'r' };

function entry(run_id: string, entries: SpanEntries | null, period = ALL): LedgerEntry {
  const spans = RowMap.of([[STREAM, entries]]);
  return {
    ...common,
    number: 1,
    run_id,
    run_sha256: DIGEST,
    package_period: period,
    coverage,
    supersedes: [],
    spans,
    heads: RowMap.of([[STREAM, head]]),
  };
}
const acceptance: LedgerEntry = {
  ...common,
  number: 2,
  acceptance_key: 'k',
  acceptance_sha256: DIGEST,
  stream_id: STREAM,
  seen: null,
  heads: RowMap.of<LedgerHead>([]),
};

/** Reads the bundle of a run with these entries. */
function read(history: History, runId: string, entries: SentEntry[]): void {
  const compared = history.comparedWith(runId, STREAM);
  history.add(runId, readPackage(packageOf(entries), { streamId: STREAM, compared }).walk);
}

const found = (history: History) => history.judge([]).findings.map(({ code, message }) => `${code}: ${message}`);

describe('two runs of one stream', () => {
  const within = [entry('all', spanOf(intact, 1, 30)), entry('part', spanOf(other, 11, 20))];

  test('that contradict each other inside of the longer one: its bundle tells', () => {
    for (const entries of [within, within.toReversed()]) {
      const history = new History(entries);
      expect(found(history)).toEqual([]);
      read(history, 'all', intact);
      expect(found(history)).toEqual([expect.stringMatching(/^history\/differs: runs part and all contradict/)]);
    }
  });

  test('that say the same, and are read', () => {
    const history = new History([entry('all', spanOf(intact, 1, 30)), entry('part', spanOf(intact, 11, 20))]);
    read(history, 'all', intact);
    read(history, 'part', intact.slice(10, 20));
    expect(found(history)).toEqual([]);
  });

  test('that border on one another with other digests, and are not read', () => {
    const history = new History([entry('one', spanOf(intact, 1, 10)), entry('two', spanOf(other, 11, 20))]);
    expect(found(history)).toEqual([expect.stringMatching(/entry 10 of the stream/)]);
  });

  test('whose content differs under the same digests', () => {
    const unbound = { digests_bind: false, entries_sha256: 'a' };
    const [one, two] = ['a', 'b'].map((entries_sha256) => ({ ...spanOf(intact, 1, 10), ...unbound, entries_sha256 }));
    const history = new History([entry('one', one ?? null), entry('two', two ?? null)]);
    expect(found(history)).toEqual([expect.stringMatching(/the content of entries 1-10/)]);
  });

  test('of which an acceptance says that the second began anew', () => {
    const entries = [entry('one', spanOf(intact, 1, 10)), acceptance, entry('two', spanOf(other, 1, 10))];
    expect(found(new History(entries))).toEqual([]);
  });
});

describe('entries between two runs', () => {
  const bound = (sequence: number) => intact[sequence - 1]?.timestamp ?? null;
  const first = (to: number) => entry('one', spanOf(intact, 1, 10), { from: null, to: bound(to) });
  const second = (from: number) => entry('two', spanOf(intact, 15, 20), { from: bound(from), to: bound(21) });
  const judge = (...entries: LedgerEntry[]) => {
    const history = new History(entries);
    const checks = ['one', 'two'].map((runId) => ({ runId, streams: [] }));
    return history.judge(checks).findings.map(({ code }) => code);
  };

  test('that leave no time between them', () => {
    expect(judge(first(13), second(13))).toEqual(['history/gap']);
    expect(judge(first(11), entry('empty', null, { from: bound(11), to: bound(14) }), second(14))).toEqual([
      'history/gap',
    ]);
  });

  test('that leave some', () => {
    expect(judge(first(11), second(14))).toEqual([]);
  });

  test('of which the first had no end when it was made', () => {
    expect(judge(entry('one', spanOf(intact, 1, 10)), second(14))).toEqual([]);
    expect(judge(entry('one', spanOf(intact, 1, 10)), second(9))).toEqual(['history/gap']);
  });
});

test('a bundle that says nothing of what was accepted was not compared with the runs before that', () => {
  const before = spanOf(intact, 1, 10);
  const history = new History([entry('before', before), acceptance, entry('after', spanOf(other, 1, 10))]);
  expect(history.whyNotCompared('after', STREAM, { earlier: [], restarts: [] })).toMatch(
    /not compared with run before/,
  );
  const earlier: Span[] = [{ run_id: 'before', period: ALL, part: false, entries: before }];
  const accepted = { reason: 'r', accepted_by: { user: 'u', host: 'h' }, accepted_at: 'then', head, earlier };
  expect(history.whyNotCompared('after', STREAM, { earlier: [], restarts: [accepted] })).toBeNull();
});

import { expect, test } from 'vitest';
import type { Verification } from '../../../src/verifier/bundle/documents.ts';
import { DEFAULT_IN_USE } from '../../../src/verifier/reading/in-use.ts';
import { whyNotAsked } from '../../../src/verifier/verify/consistency.ts';
import { DIGEST } from '../../support/records.ts';

const { description } = DEFAULT_IN_USE;
const entries = { first_sequence: 1, head: { sequence: 20, hash: DIGEST } };
const period = { from: '2026-09-01T00:00:00.000Z', to: '2026-10-01T00:00:00.000Z' };
const before = { run_id: '2026-09', period, part: false, entries };
const after = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' };
const forever = { from: null, to: null };
const head = (sequence: number | null) => ({ entries: sequence, head: { sequence, hash: null }, read_at: '' });
const asked = { after: 30, to: 35, next: 31, late: [], more: false, failure: null };

/** A package that ends at 30, of a stream that ends at 35. */
const STATED = {
  unfetched: null,
  earlier: [before],
  statement: head(35),
  package_period: after,
  completeness: { kind: 'listing' },
  verdict: { head: { sequence: 30, hash: DIGEST } },
};

test.each<[words: string, change: object, isWrong: boolean]>([
  ['nobody asked', {}, true],
  ['they were asked for', { unfetched: asked }, false],
  ['others were asked for', { unfetched: { ...asked, after: 29 } }, true],
  ['they were asked for up to another head', { unfetched: { ...asked, to: 34 } }, true],
  ['the package ends at the head', { statement: head(30) }, false],
  ['no head is stated', { statement: head(null) }, false],
  ['the stream is stated to be empty', { statement: { ...head(35), entries: 0 } }, false],
  ['no earlier run had the stream', { earlier: [] }, false],
  ['an earlier run has them', { earlier: [{ ...before, entries: { ...entries, head: head(35).head } }] }, false],
  ['nothing was listed', { completeness: { kind: 'record', reason: '' } }, false],
  ['no period ends', { package_period: forever, earlier: [{ ...before, period: forever }] }, false],
])('entries that no export has: %s', (_words, change, isWrong) => {
  const stated = { ...STATED, ...change } as unknown as Verification;
  expect(whyNotAsked(stated, description) !== null).toBe(isWrong);
});

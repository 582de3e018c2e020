import { describe, expect, test } from 'vitest';
import { asPart } from '../../../src/verifier/chain/package.ts';
import type { ClaimName } from '../../../src/verifier/claims/claim.ts';
import type { Span } from '../../../src/verifier/claims/schemas.ts';
import { seenIn } from '../../../src/verifier/claims/span.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { chainOf, examineReading, packageOf, readPackage, type SentEntry, STREAM } from '../../support/chain.ts';

const intact = chainOf(6);
const third = intact[2] as SentEntry;
const edited = intact.with(2, { ...third, actor: 'm' });
const unsealed = intact.with(2, { ...third, seal: null as unknown as string });
const read = (entries: SentEntry[]) => readPackage(packageOf(entries), { streamId: STREAM });
const foreign = () => readPackage(packageOf(edited, { package_id: 'other' }), { streamId: STREAM, packageId: 'pkg-1' });
const cut = (entries: SentEntry[]) =>
  readPackage(JSON.stringify(packageOf(entries)).slice(0, -3), { streamId: STREAM });

const STATUS: [string, () => ReturnType<typeof read>, ClaimName[], string][] = [
  ['all is well', () => read(intact), ['order', 'content', 'seal', 'continuity'], 'verified'],
  ['nothing is required', () => read(intact), [], 'verified'],
  ['a required claim is unproved', () => read(intact), ['order', 'anchor'], 'incomplete'],
  ['a claim that is not required is refuted', () => read(edited), ['order'], 'refuted'],
  ['refuted outweighs a required claim that is unproved', () => read(edited), ['anchor'], 'refuted'],
  ['no entries', () => read([]), ['order'], 'empty'],
  ['no entries, nothing required', () => read([]), [], 'empty'],
  ['no entries, and something is stated', () => readPackage(packageOf([], { entry_count: 6 })), [], 'refuted'],
  ['cut off', () => cut(intact), [], 'incomplete'],
  ['cut off before any entry', () => cut([]), [], 'incomplete'],
  ['cut off after an edit', () => cut(edited), ['order'], 'refuted'],
  [
    'another package, itself sound',
    () => readPackage(packageOf(intact, { package_id: 'x' }), { packageId: 'pkg-1' }),
    [],
    'incomplete',
  ],
  ['another package, itself edited', foreign, [], 'refuted'],
  ['a seal is missing that is required', () => read(unsealed), ['seal'], 'refuted'],
];

describe('the status of a stream', () => {
  test.each(STATUS)('%s', (_words, reading, required, status) => {
    expect(examineReading(reading(), required).status).toBe(status);
  });
});

test.each<[ClaimName[], string]>([
  [['order'], 'collected'],
  [[], 'collected'],
  [['order', 'content'], 'incomplete'],
])('without a recipe, and %j required, a stream is %s', (required, status) => {
  const contract = { ...defaultContract, recipe: null };
  const examined = examineReading(read(intact), required, { contract });
  expect(examined.status).toBe(status);
  // The advice appears only if content is required.
  expect(examined.claims.content.reason?.includes('require: [order]')).toBe(required.includes('content'));
});

test('a stream of which a form is missing is incomplete, unless it is refuted', () => {
  expect(examineReading(read(intact), [], { isShort: true }).status).toBe('incomplete');
  expect(examineReading(read(edited), [], { isShort: true }).status).toBe('refuted');
});

test('of a part nothing is proved, and what was refuted stays so', () => {
  const { claims, findings } = examineReading(asPart(read(edited), 'the connection broke'));
  const states = Object.values(claims).map(({ state }) => state);
  expect(states.toSorted()).toEqual(['refuted', ...Array(6).fill('unproved')]);
  expect(claims.content.reason).toBe('1 deviation');
  expect(claims.order.reason).toContain('the connection broke');
  expect(findings.map(({ code }) => code)).toEqual(['package/unreadable', 'content/mismatch']);
});

const SEALS: [string, SentEntry[], boolean, string, RegExp][] = [
  ['all verified', intact, true, 'proved', /6 of 6/],
  ['no key given', intact, false, 'unproved', /no seal key/],
  ['one of another key', intact.with(2, { ...third, seal_key_id: 'k9' }), true, 'unproved', /1 of 6/],
  ['one missing', unsealed, true, 'refuted', /1 deviation: 1 of 6 entries has no seal/],
  [
    'none, and none required',
    intact.map((entry) => ({ ...entry, seal: null as unknown as string })),
    true,
    'unproved',
    /6 of 6 entries have no seal/,
  ],
  ['one wrong', intact.with(2, { ...third, seal: '0'.repeat(64) }), true, 'refuted', /1 deviation/],
  ['none at all', [], true, 'unproved', /no entries/],
];

describe('the claim about seals', () => {
  test.each(SEALS)('%s', (_words, entries, sealKeysGiven, state, words) => {
    const { seal } = examineReading(read(entries), [], { sealKeysGiven }).claims;
    expect(seal.state).toBe(state);
    expect(seal.basis ?? seal.reason).toMatch(words);
  });
});

test('a fault of ours that the service does not see is a disagreement as well', () => {
  const vendor = { verified: true, checked_at: null, failed_sequences: [] };
  const { claims, findingsCount } = examineReading(read(edited), [], { vendor });
  expect(claims.agreement.state).toBe('refuted');
  expect(findingsCount).toBe(2);
});

test('the basis of a proof says what was done', () => {
  const { claims } = examineReading(read(intact), [], { contract: { ...defaultContract, recipe: 'the recipe' } });
  expect(claims.order.basis).toBe('6 entries, 1 to 6, each naming the one before it');
  expect(claims.content.basis).toBe('6 of 6 digests recomputed: the recipe');
});

test.each([
  ['sound', intact],
  ['edited', edited],
  ['without a seal', unsealed],
])('the same reading is judged alike however often: %s', (_words, entries) => {
  const reading = read(entries);
  const first = examineReading(reading, ['seal']);
  expect(examineReading(reading, ['seal'])).toEqual(first);
  expect(examineReading(reading, ['seal'])).toEqual(examineReading(read(entries), ['seal']));
});

test('findings beyond what is kept are counted', () => {
  const many = chainOf(3000).map((entry) => (entry.sequence % 2 === 0 ? { ...entry, actor: 'm' } : entry));
  const { findings, findingsCount, claims } = examineReading(read(many));
  expect([findings.length, findingsCount, claims.content.reason]).toEqual([1000, 1500, '1,500 deviations']);
});

test.each([
  ['an earlier run has them', 5, { code: 'compare_with_run', run_id: 'r' }],
  ['an earlier run has some of them', 3, undefined],
  ['no earlier run is known', null, undefined],
])('the advice on entries that are left out, where %s', (_words, last, advice) => {
  const seen = seenIn(read(intact.slice(0, last ?? 0)).walk);
  const entries = { ...seen, first_sequence: 1, head: { sequence: last ?? 0, hash: '' }, agrees: true };
  const span = { run_id: 'r', period: { from: null, to: null }, part: false, entries } as Span;
  const { findings } = examineReading(read([0, 1, 4, 5].map((index) => intact[index] as SentEntry)), [], {
    earlier: last === null ? null : [span],
  });
  expect(findings.find(({ code }) => code === 'order/gap')?.advice).toEqual(advice);
});

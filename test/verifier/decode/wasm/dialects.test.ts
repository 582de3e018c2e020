import { expect, test } from 'vitest';
import { comparePaths } from '../../../fuzz/dialects.ts';
import { randomFrom } from '../../../fuzz/packages.ts';
import { ALL_DIALECTS, chainIn, type Dialect, dialectNamed, packageIn } from '../../../support/dialects.ts';
import { someRows } from '../../../support/some-rows.ts';
import { Mutations } from './mutations.ts';

/**
 * Recipes without a program for the fast decoder: a path of three names, selected members of an object, the JSON of an
 * entry's roles.
 */
const WITHOUT_PROGRAM = ['join of nested', 'rfc8785 of a part of a member', 'roles in a member, hashed whole'];
const LENGTH = 150;
const [MUTATIONS = 0] = someRows([50, 120], () => 'mutations').slice(-1);

const hasProgram = ({ name }: Dialect) => !WITHOUT_PROGRAM.includes(name);
const named = (dialects: readonly Dialect[]) => dialects.map((dialect) => [dialect.name, dialect] as const);

test.each(named(ALL_DIALECTS))('%s is read alike by both paths, and nearly all by the fast one', (_name, dialect) => {
  const chain = chainIn(dialect, LENGTH, randomFrom(20_261_121));
  const { fast, slow, taken, findings } = comparePaths(dialect, packageIn(dialect, chain));
  expect(fast).toBe(slow);
  expect(dialect.contract.program !== null).toBe(hasProgram(dialect));
  if (!hasProgram(dialect)) return;
  expect(findings).toBe('');
  expect(taken).toBeGreaterThan(LENGTH - 5);
});

test.each(named(ALL_DIALECTS.filter(hasProgram)))(
  'mutated entries of %s are regular only where the slow path finds nothing',
  (_name, dialect) => {
    const mutations = new Mutations(dialect, randomFrom(20_261_122));
    for (let count = 0; count < MUTATIONS; count++) expect(mutations.next()).toBe(null);
    expect(mutations.counts.accepted).toBeGreaterThan(MUTATIONS / 40);
  },
);

/** Styles of sending a chain whose entries the kernel takes. */
test.each([
  ['fastapi.yaml', { spaced: false, ascii: false, pretty: false }],
  ['fastapi.yaml', { spaced: true, ascii: true, pretty: false }],
  ['fastapi service', { spaced: false, ascii: true, pretty: true }],
  ['account.yaml', { spaced: true, ascii: false, pretty: false }],
  ['results service', { spaced: true, ascii: true, pretty: true }],
  ['camel service', { spaced: false, ascii: true, pretty: false }],
])('%s, sent as %j', (name, style) => {
  const dialect = dialectNamed(name);
  const chain = chainIn(dialect, LENGTH, randomFrom(1), () => style);
  const { fast, slow, taken } = comparePaths(dialect, packageIn(dialect, chain));
  expect(fast).toBe(slow);
  expect(taken).toBeGreaterThan(LENGTH - 15);
});

test('what a single entry leaves open is noted of it by the fast path too', () => {
  const dialect = dialectNamed('camel service');
  const chain = chainIn(dialect, LENGTH, randomFrom(3));
  const { unhashed, taken } = comparePaths(dialect, packageIn(dialect, chain));
  const added = chain.map((entry, index) => (index === 100 ? entry.replace('{', '{"new.one":1,"other":2,') : entry));
  const again = comparePaths(dialect, packageIn(dialect, added));
  expect(again.fast).toBe(again.slow);
  expect([...again.unhashed.values()]).toEqual([
    ...unhashed.values(),
    { kind: 'member', path: ['new.one'] },
    { kind: 'member', path: ['other'] },
  ]);
  expect(again.taken).toBe(taken);
});

test.each([
  ['one whose name is empty', ['one', '', 'other'], ['one', '', 'other']],
  ['ones that JavaScript has in another order', ['b', '10', 'a', '9'], ['9', '10', 'b', 'a']],
  ['ones whose names differ in their last letter', ['a name of letters'], ['a name of letterz']],
])('of members that are not hashed, each is noted: %s', (_name, first, others) => {
  const dialect = dialectNamed('camel service');
  // Members keep their order in every entry.
  const chain = chainIn(dialect, 3, (below) => below - 1);
  const added = chain.map((entry, index) => {
    const names = index === 0 ? first : others;
    return entry.replace('{', `{${names.map((name) => `${JSON.stringify(name)}:1,`).join('')}`);
  });
  const { fast, slow, unhashed } = comparePaths(dialect, packageIn(dialect, added));
  expect(fast).toBe(slow);
  const wanted = new Set([...first, ...others]);
  const names = [...unhashed.values()].map((one) => (one.kind === 'member' ? one.path.join('.') : one.kind));
  expect(names.filter((name) => wanted.has(name)).toSorted()).toEqual([...wanted].toSorted());
});

test('whatever one entry leaves open, the others are taken', () => {
  const dialect = dialectNamed('camel service');
  const chain = chainIn(dialect, 20, randomFrom(3));
  const strange = ['\u001f', '\ud800', 'x'.repeat(5000), '"a.b"', 'a.b.c', '', '.', 'more', ...Array(300).keys()];
  const added = chain.map((entry, index) => {
    const names = index === 7 ? strange.map((name) => `${JSON.stringify(String(name))}:1,`).join('') : '';
    return entry.replace('{', `{${Buffer.from(names).toString('latin1')}`);
  });
  const { fast, slow, taken } = comparePaths(dialect, packageIn(dialect, added));
  expect(fast).toBe(slow);
  expect(taken).toBeGreaterThan(10);
});

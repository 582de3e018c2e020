import { describe, expect, test } from 'vitest';
import { findChains, genesisOf, miscounted, nearestLink, numberAt } from '../../../src/probe/roles/chain.ts';
import { digestFormOf } from '../../../src/probe/sample/sample.ts';
import { chainOf, type PlainEntry, samplesOf, sha256, streamOf } from '../sample-service.ts';

describe('the link is found by what the fields hold', () => {
  test('whatever they are called, in any order, nested or not', () => {
    const entries = chainOf('s', 25).map(({ before, digest, n, ...rest }) => ({
      ...rest,
      p: { x: before, y: digest, z: n },
    }));
    const [chain] = findChains([streamOf('s', entries.toReversed())]);
    expect(chain).toMatchObject({ sequence: 'p.z', previous: 'p.x', digest: 'p.y', firstSequence: 1, links: 24 });
  });

  test('in every stream by itself: numbers that go on over all streams are no sequence', () => {
    const [one, other] = [chainOf('a', 20), chainOf('b', 5)];
    const ids = [...one, ...other].map((entry, index) => ({ id: index + 1, ...entry }));
    const streams = [streamOf('a', ids.slice(0, 20)), streamOf('b', ids.slice(20))];
    expect(findChains(streams)[0]).toMatchObject({ sequence: 'n', links: 23 });
  });

  test('from 0 on, and written as text', () => {
    const entries = chainOf('s', 20).map((entry) => ({ ...entry, n: String(entry.n - 1) }));
    expect(findChains([streamOf('s', entries)])[0]).toMatchObject({ firstSequence: 0, numbers: 'text' });
  });

  test('where the first entry lacks the field that names its predecessor', () => {
    const entries = chainOf('s', 20).map(({ before, ...rest }, index) => (index === 0 ? rest : { ...rest, before }));
    const streams = [streamOf('s', entries)];
    const [chain] = findChains(streams);
    expect(chain?.previous).toBe('before');
    expect(chain && genesisOf(streams, chain)).toBe('absent');
  });
});

describe('one bad entry does not hide the chain of the others', () => {
  const entries = chainOf('s', 25);
  const altered = (more: Partial<PlainEntry>) => entries.with(10, { ...(entries[10] ?? never()), ...more });
  const cases: [name: string, served: object[], broken: number[]][] = [
    ['its link altered', altered({ before: sha256('another') }), [11]],
    ['its digest altered', altered({ digest: sha256('another') }), [12]],
    ['link and digest altered', altered({ before: sha256('x'), digest: sha256('y') }), [11, 12]],
    ['its digest that of another entry', altered({ digest: entries[3]?.digest ?? '' }), [12]],
    ['its digest no digest', altered({ digest: 'none' }), [12]],
    ['its digest in another alphabet', altered({ digest: `${'-_'.repeat(32)}` }), [12]],
    ['its digest left out', entries.map(({ digest, ...rest }) => (rest.n === 11 ? rest : { ...rest, digest })), [12]],
    ['its link left out', entries.map(({ before, ...rest }) => (rest.n === 11 ? rest : { ...rest, before })), [11]],
    ['missing', entries.toSpliced(10, 1), []],
    ['served twice', entries.toSpliced(10, 0, entries[10] ?? never()), []],
    ['renumbered far away', altered({ n: 1000 }), []],
    ['renumbered to 0', altered({ n: 0 }), [1]],
    ['its number a text', entries.map((entry) => (entry.n === 11 ? { ...entry, n: '11' } : entry)), []],
    ['without a number', entries.map(({ n, ...rest }) => (n === 11 ? rest : { ...rest, n })), []],
  ];
  test.each(cases)('%s', (_, served, broken) => {
    const [chain] = findChains([streamOf('s', served)]);
    expect(chain).toMatchObject({ sequence: 'n', previous: 'before', digest: 'digest', firstSequence: 1 });
    expect(chain).toMatchObject({ numbers: 'number', form: { encoding: 'hex', prefix: '', bytes: 32 } });
    expect(chain?.broken.map(({ value }) => numberAt(value, 'n'))).toEqual(broken);
  });

  test('nor what the first entries say of their predecessor', () => {
    const forged = chainOf('b', 5).map((entry) => (entry.n === 1 ? { ...entry, before: 'GENESIS' } : entry));
    const streams = [streamOf('a', entries), streamOf('b', forged), streamOf('c', chainOf('c', 5))];
    const [chain] = findChains(streams);
    expect(chain && genesisOf(streams, chain)).toBe('zeros');
    expect(chain && genesisOf(streams.slice(0, 2), chain)).toBeNull();
  });

  test.each([
    ['an entry is missing', entries.toSpliced(10, 1), [12]],
    ['an entry is served twice', entries.toSpliced(10, 0, entries[10] ?? never()), [11]],
    ['none', entries, []],
  ])('the numbers that do not go on are named: %s', (_, served, expected) => {
    const found = miscounted(samplesOf(served), 'n').map(({ value }) => numberAt(value, 'n'));
    expect(found).toEqual(expected);
  });
});

describe('a link that does not hold is none', () => {
  test('four pairs of twenty-four', () => {
    const spoiled = chainOf('s', 25).map((entry) =>
      [5, 9, 13, 17].includes(entry.n) ? { ...entry, before: sha256(`${entry.n}`) } : entry,
    );
    const streams = [streamOf('s', spoiled)];
    expect(findChains(streams)).toEqual([]);
    expect(nearestLink(streams)).toEqual({ holds: 20, of: 24 });
  });

  test('a field that equals the digest before it by chance here and there', () => {
    const entries = chainOf('s', 25).map((entry, index) => ({
      echo: index % 3 === 0 ? sha256(`own ${index}`) : entry.before,
      ...entry,
    }));
    expect(findChains([streamOf('s', entries)]).map(({ previous }) => previous)).toEqual(['before']);
  });

  test('ids that repeat the id before them are no digests', () => {
    const entries = Array.from({ length: 20 }, (_, index) => ({
      n: index + 1,
      id: `e-${index}`,
      parent: `e-${index - 1}`,
    }));
    expect(findChains([streamOf('s', entries)])).toEqual([]);
  });

  test('numbers with a gap in every third place', () => {
    const entries = chainOf('s', 30).filter(({ n }) => n % 3 !== 0);
    expect(findChains([streamOf('s', entries)])).toEqual([]);
  });
});

test.each([
  ['zeros', '0'.repeat(64), 'zeros'],
  ['an empty text', '', 'empty'],
  ['null', null, 'null'],
  ['a text of its own', 'GENESIS', { text: 'GENESIS' }],
  ['zeros that are no digest', '0', { text: '0' }],
  ['a digest that is nobody’s', sha256('x'), null],
])('genesis is %s', (_, before, expected) => {
  const entries = chainOf('s', 20).map((entry, index) => (index === 0 ? { ...entry, before } : entry));
  const streams = [streamOf('s', entries)];
  const [chain] = findChains(streams);
  expect(chain && genesisOf(streams, chain)).toEqual(expected);
});

const bytes = (length: number, at: number) => Buffer.alloc(length, 0xfb ^ at);
test.each([
  ['hex', [sha256('a'), sha256('b')], { encoding: 'hex', prefix: '', bytes: 32 }],
  ['a prefix', [`sha256:${sha256('a')}`, `sha256:${sha256('b')}`], { encoding: 'hex', prefix: 'sha256:', bytes: 32 }],
  [
    'base64',
    [bytes(48, 1).toString('base64'), bytes(48, 2).toString('base64')],
    { encoding: 'base64', prefix: '', bytes: 48 },
  ],
  [
    'base64url',
    [bytes(64, 1).toString('base64url'), bytes(64, 2).toString('base64url')],
    { encoding: 'base64url', prefix: '', bytes: 64 },
  ],
  ['a UUID', ['7d5457f8-04ec-4b7a-9000-000000000000'], null],
  ['one that is none', [sha256('a'), 'none'], null],
  ['lengths that differ', [sha256('a'), bytes(48, 1).toString('hex')], null],
  ['null among them', [sha256('a'), null], null],
])('digests: %s', (_, values, expected) => {
  expect(digestFormOf(values)).toEqual(expected);
});

function never(): never {
  throw new Error('there is no such entry');
}

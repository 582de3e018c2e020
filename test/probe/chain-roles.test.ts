import { describe, expect, test } from 'vitest';
import { findChains, genesisOf, nearestLink } from '../../src/probe/chain-roles.ts';
import { digestFormOf } from '../../src/probe/sample.ts';
import { chainOf, sha256, streamOf } from './sample-service.ts';

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

describe('a link that does not hold is none', () => {
  test('one pair of twenty-four', () => {
    const entries = chainOf('s', 25);
    const streams = [streamOf('s', entries.with(10, { ...(entries[10] ?? never()), before: sha256('another') }))];
    expect(findChains(streams)).toEqual([]);
    expect(nearestLink(streams)).toEqual({ holds: 23, of: 24 });
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

  test('a gap in the numbers', () => {
    expect(findChains([streamOf('s', chainOf('s', 20).toSpliced(5, 1))])).toEqual([]);
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

import { createHmac, createSecretKey, hash, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import canonicalizeReference from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalize, type Json } from '../../../src/core/json/canonical.ts';
import type { EntryRow } from '../../../src/platform/audit/repository.ts';
import { entryToWire, hashEntry, sealHash, timestampOf } from '../../../src/platform/audit/rules.ts';
import { DerivedSealKeys, sealKeyId } from '../../../src/platform/audit/seal-keys.ts';
import type { WireEntry } from '../../../src/platform/audit/wire.ts';

const vectors = JSON.parse(readFileSync(new URL('../../vectors/chain/valid.json', import.meta.url), 'utf8')) as {
  entries: Omit<WireEntry, 'recorded_by'>[];
};
const entries = vectors.entries.map((entry): WireEntry => ({ ...entry, recorded_by: 'key:k' }));
const vectorKey = createSecretKey(Buffer.from('vector-seal-key-0001'));

function toRow({ metadata, occurred_at, ...entry }: WireEntry): EntryRow {
  return { ...entry, occurred_at: occurred_at ?? null, metadata: canonicalize(metadata as Json) };
}

describe('hash and seal', () => {
  test('seals are those of packages made by Python', () => {
    expect(vectors.entries.length).toBeGreaterThan(50);
    for (const { hash: digest, seal } of vectors.entries) expect(sealHash(vectorKey, digest)).toBe(seal);
  });

  test('hash the RFC 8785 form as the reference implementation writes it, whatever the text', () => {
    const text = fc.string({ unit: 'binary' });
    const metadata = fc.dictionary(
      text,
      fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
    );
    const arbitrary = fc.record({
      actor: text,
      resource_id: text,
      recorded_by: text,
      metadata,
      occurred_at: fc.option(text),
    });
    fc.assert(
      fc.property(arbitrary, ({ occurred_at, ...more }) => {
        const [first] = entries;
        if (first === undefined) throw new Error('the vectors are empty');
        const { hash: _hash, seal: _seal, occurred_at: _time, ...rest } = { ...first, ...more };
        const wire = { ...rest, ...(occurred_at === null ? {} : { occurred_at }) };
        const reference = hash('sha256', String(canonicalizeReference(wire)), 'hex');
        expect(hashEntry(toRow({ ...wire, hash: '', seal: '' }))).toBe(reference);
      }),
    );
  });

  test('an entry is served with the members it was recorded with', () => {
    for (const wire of entries) expect(entryToWire(toRow(wire))).toEqual(wire);
  });
});

describe('seal keys', () => {
  const master = Buffer.alloc(32, 7);
  const keys = new DerivedSealKeys(master);

  test('are the HKDF of RFC 5869 as node computes it', () => {
    const expected = hkdfSync('sha256', master, '', 'seal/1/päyments', 32);
    expect(Buffer.from(keys.reveal('päyments', 1).bytes)).toEqual(Buffer.from(expected));
    const seal = createHmac('sha256', Buffer.from(expected)).update('ab').digest('hex');
    expect(sealHash(keys.of('päyments', 1).key, 'ab')).toBe(seal);
  });

  test('exist for ids longer than node accepts, each stream its own', () => {
    const long = 'ü'.repeat(1024);
    expect(keys.reveal(long, 1).bytes).toHaveLength(32);
    expect(keys.reveal(long, 1).bytes).not.toEqual(keys.reveal(`${long.slice(1)}u`, 1).bytes);
  });

  test.each(['e2-0000000000000000', 'e0-0000000000000000', '', 'k1', sealKeyId('other'), `${sealKeyId('a')}x`])(
    'stream "a" has no key %j',
    (id) => {
      expect(keys.find('a', id)).toBeNull();
      expect(keys.find('a', sealKeyId('a'))).not.toBeNull();
    },
  );

  test('that are kept are found for their own stream only', () => {
    const [other, slashed] = [keys.of('other', 1), keys.of('b/a', 1)];
    expect(keys.find('other', other.id)).toEqual({ id: other.id, epoch: 1, key: other.key });
    expect(keys.find('a', other.id)).toBeNull();
    expect(keys.find('a', `${slashed.id}/b`)).toBeNull();
  });

  test('a master key of another length is refused', () => {
    expect(() => new DerivedSealKeys(Buffer.alloc(31))).toThrow(/31 bytes/);
  });
});

test.each([
  ['there is no entry', null, '2026-11-21T10:00:00.000Z'],
  ['the last entry is older', '2026-11-21T09:59:59.999Z', '2026-11-21T10:00:00.000Z'],
  ['the clock was adjusted', '2026-11-21T10:00:00.001Z', '2026-11-21T10:00:00.001Z'],
  ['the clock was adjusted by the most', '2026-11-21T10:00:05.000Z', '2026-11-21T10:00:05.000Z'],
  ['the clock went back', '2026-11-21T10:00:05.001Z', '2026-11-21T10:00:00.000Z'],
])('the time of an entry if %s', (_case, last, expected) => {
  expect(timestampOf(new Date('2026-11-21T10:00:00.000Z'), last)).toBe(expected);
});

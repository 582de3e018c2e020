import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chainOf,
  entryAfter,
  examineReading,
  packageOf,
  readPackage,
  type SentEntry,
  STREAM,
} from '../support/chain.ts';
import { someRows } from '../support/some-rows.ts';

const LENGTH = 12;
const [MUTATIONS = 0] = someRows([400, 1500], () => 'mutations').slice(-1);
const intact = chainOf(LENGTH);
const sent = packageOf(intact);
const text = JSON.stringify(sent);
const foreign = chainOf(LENGTH, { stream_id: 'another' });
const forged = chainOf(LENGTH, { actor: 'mallory' });

const REQUIRED = ['order', 'content', 'seal'] as const;
const index = fc.nat(LENGTH - 1);
const value = fc.oneof(
  fc.jsonValue(),
  fc.integer({ min: 0, max: LENGTH + 2 }),
  fc.constantFrom(...intact.flatMap(({ hash, seal, prev_hash }) => [hash, seal, prev_hash])),
  fc.constantFrom('0'.repeat(64), '', STREAM, 'another', 'k1', 'k2', undefined),
);
const FIELDS = [...Object.keys(intact[0] ?? {}), 'occurred_at', 'added', '__proto__'];

type Mutation = { name: string; entries: SentEntry[] };
const at = (position: number, chain = intact) => chain[position] as SentEntry;
const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(index, fc.constantFrom(...FIELDS), value).map(([position, field, written]) => ({
    name: `edit ${field} of ${position}`,
    entries: intact.with(
      position,
      Object.fromEntries([...Object.entries(at(position)), [field, written]]) as SentEntry,
    ),
  })),
  fc.integer({ min: 1, max: LENGTH - 2 }).map((position) => ({
    name: `delete ${position}`,
    entries: intact.toSpliced(position, 1),
  })),
  fc.tuple(fc.nat(LENGTH), fc.constantFrom(...intact, ...foreign, ...forged)).map(([position, entry]) => ({
    name: `insert ${entry.sequence} of ${entry.stream_id} at ${position}`,
    entries: intact.toSpliced(position, 0, entry),
  })),
  fc.tuple(index, index).map(([one, other]) => ({
    name: `swap ${one} and ${other}`,
    entries: intact.with(one, at(other)).with(other, at(one)),
  })),
  fc.tuple(index, fc.constantFrom(...foreign, ...forged)).map(([position, entry]) => ({
    name: `replace ${position}`,
    entries: intact.with(position, entry),
  })),
);

/** True if readers see the original entries. */
const same = (entries: unknown) => JSON.stringify(entries) === JSON.stringify(intact);

test('no single mutation of an intact chain is verified', () => {
  fc.assert(
    fc.property(mutations, ({ entries, name }) => {
      fc.pre(!same(entries));
      // The head stays as sent or is recomputed; neither may hide the mutation.
      for (const document of [{ ...sent, entries }, packageOf(entries)]) {
        const { status } = examineReading(readPackage(document, { streamId: STREAM }), REQUIRED);
        expect(status, name).not.toBe('verified');
      }
    }),
    { numRuns: MUTATIONS },
  );
});

test('no flipped bit in the entries is verified, unless they still read the same', () => {
  const bytes = Buffer.from(text);
  const start = text.indexOf('"entries"');
  fc.assert(
    fc.property(fc.integer({ min: start, max: bytes.length - 1 }), fc.nat(7), (offset, bit) => {
      const flipped = Buffer.from(bytes);
      flipped[offset] = (flipped[offset] ?? 0) ^ (1 << bit);
      const document = flipped.toString('latin1');
      let entries: unknown = null;
      try {
        entries = JSON.parse(document).entries;
      } catch {
        // The document is no longer JSON.
      }
      fc.pre(!same(entries));
      expect(examineReading(readPackage(document, { streamId: STREAM }), REQUIRED).status).not.toBe('verified');
    }),
    { numRuns: MUTATIONS },
  );
});

describe('an intact chain is verified', () => {
  test('in whatever pieces it arrives', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 40 }), (offsets) => {
        const cuts = offsets.toSorted((a, b) => a - b);
        const examination = examineReading(readPackage(text, { cuts, streamId: STREAM }), REQUIRED);
        expect(examination).toMatchObject({ status: 'verified', findingsCount: 0 });
      }),
    );
  });

  test('whatever its entries hold', () => {
    const metadata = fc.jsonValue({ noUnicodeString: false });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(metadata, fc.string({ unit: 'grapheme' })), { minLength: 1, maxLength: 5 }),
        (contents) => {
          const chain: SentEntry[] = [];
          for (const [held, actor] of contents) chain.push(entryAfter(chain.at(-1) ?? null, { metadata: held, actor }));
          const examination = examineReading(readPackage(packageOf(chain)), REQUIRED);
          expect(examination).toMatchObject({ status: 'verified', findings: [] });
        },
      ),
    );
  });

  test('of any length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (length) => {
        expect(examineReading(readPackage(packageOf(chainOf(length))), REQUIRED).status).toBe('verified');
      }),
      { numRuns: 20 },
    );
  });
});

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { toHmacKey } from '../../../../src/core/digest.ts';
import type { Hash, RecipeProgram } from '../../../../src/verifier/recipe/recipe-program.ts';
import { chainOf, type SentEntry } from '../../../support/chain.ts';
import { decoders, PROGRAM } from './default-chain.ts';

/** Returns a recipe whose digest covers one member. */
const overText = (algorithm: Hash): RecipeProgram => ({
  ...PROGRAM,
  roles: { ...PROGRAM.roles, streamId: null, timestamp: null, entryId: null },
  digest: { algorithm, encoding: 'hex', prefix: '' },
  seal: null,
  without: [],
  groups: [],
  preimage: [{ kind: 'field', path: ['text'], nullAs: '', unhashed: null }],
});

test.each<Hash>(['sha-256', 'sha-384', 'sha-512'])(
  '%s of every length from 0 to 300, and of some large ones',
  (name) => {
    const both = decoders({ program: overText(name) });
    const node = name.replace('-', '');
    for (const length of [...Array(301).keys(), 4095, 65_536, 999_999]) {
      const text = randomBytes(length).toString('hex').slice(0, length);
      const hash = createHash(node).update(text).digest('hex');
      const entry = { sequence: 7, prev_hash: hash, hash, text };
      const taken = (entries: object[]) => both.taken(Buffer.from(JSON.stringify(entries).slice(1))).rows;
      expect(taken([entry]), `${length} bytes`).toMatchObject([{ digest: hash, previous: hash }]);
      const wrong = hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
      expect(taken([{ ...entry, hash: wrong }])).toMatchObject([{ digest: wrong, computed: hash }]);
    }
  },
);

test('messages of all lengths in all lanes', () => {
  const chain = chainOf(1);
  for (let length = 0; length <= 300; length++) {
    const metadata = 'x'.repeat((length * 7919) % 301);
    chain.push(...chainOf(1, { ...next(chain), metadata }));
  }
  const bytes = Buffer.from(`${chain.map((entry) => JSON.stringify(entry)).join(',')}]`);
  expect(
    decoders()
      .taken(bytes)
      .rows.map(({ digest }) => digest),
  ).toEqual(chain.map(({ hash }) => hash));
});

function next(chain: readonly SentEntry[]): Partial<SentEntry> {
  return { sequence: chain.length + 1, prev_hash: chain.at(-1)?.hash ?? '', timestamp: chain.at(-1)?.timestamp ?? '' };
}

test('HMAC-SHA-256 with keys of every length from 1 to 300, several of them in one chain', () => {
  const given = [...Array(300).keys()].map((length) => [`key-"${length}"`, randomBytes(length + 1)] as const);
  for (let from = 0; from < 300; from += 43) {
    const keys = new Map(given.slice(from, from + 43));
    const chain: SentEntry[] = [];
    for (const [seal_key_id, key] of keys) {
      const [entry] = chainOf(1, chain.length === 0 ? { seal_key_id } : { ...next(chain), seal_key_id });
      if (entry === undefined) throw new Error('a chain of one has one entry');
      chain.push({ ...entry, seal: createHmac('sha256', key).update(entry.hash).digest('hex') });
    }
    const both = decoders({ keys: new Map([...keys].map(([id, key]) => [id, toHmacKey(key)] as const)) });
    const taken = (entries: SentEntry[]) => both.taken(Buffer.from(`${JSON.stringify(entries).slice(1)}`));
    const whole = taken(chain);
    expect(whole).toMatchObject({ stop: 'closed', keyIds: [...keys.keys()].sort() });
    expect(whole.rows).toHaveLength(keys.size);
    const seals = chain.map(({ seal }) => seal ?? '');
    const swapped = chain.map((entry, index) => ({ ...entry, seal: seals.at(index - 1) ?? '' }));
    const rows = taken(swapped).rows;
    expect(rows.map(({ seal }) => seal)).toEqual(swapped.map(({ seal }) => seal));
    expect(rows.map(({ computedSeal }) => computedSeal)).toEqual(seals);
  }
});

import { describe, expect, test } from 'vitest';
import type { Description } from '../../src/verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../src/verifier/reading/reading.ts';
import { GENESIS, packageOf, type SentEntry, STREAM, sealed } from '../support/chain.ts';
import { verifyFile } from '../support/verified.ts';

type Outcome = [exit: number, content: string, findings: string[]];

const PROVED: Outcome = [0, 'proved', []];
const UNPROVED: Outcome = [3, 'unproved', ['content/inexact-number 2']];

/** Spellings of a number in the middle of three entries; digests cover the double that the number parses to. */
const NUMBERS: [spelling: string, outcome: Outcome][] = [
  ['12345678901234567000', PROVED],
  ['12345678901234567168', UNPROVED],
  ['100000000000000000000000', PROVED],
  ['99999999999999991611392', UNPROVED],
  ['1e23', PROVED],
  ['9007199254740992', PROVED],
  ['9007199254740993', UNPROVED],
  ['9007199254740993.0', UNPROVED],
  ['9007199254740993e0', UNPROVED],
  ['-9007199254740993', UNPROVED],
  ['3.00000000000000000001', UNPROVED],
  ['0.1000000000000000055', UNPROVED],
  ['0.10000000000000001', UNPROVED],
  ['0.30000000000000004', PROVED],
  ['1e-400', UNPROVED],
  ['1.0', PROVED],
  ['100e-2', PROVED],
  ['-0', PROVED],
  ['2E2', PROVED],
];

const PLACE = 424242;

function chainWith(number: number): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let sequence = 1; sequence <= 3; sequence++)
    entries.push(
      sealed({
        entry_id: `e-${sequence}`,
        stream_id: STREAM,
        sequence,
        timestamp: `2026-10-01T00:00:0${sequence}.000Z`,
        actor: 'alice',
        action: 'payment.created',
        resource_type: 'payment',
        resource_id: 'p/1',
        metadata: { amount: sequence === 2 ? number : 1 },
        prev_hash: entries.at(-1)?.hash ?? GENESIS,
        seal_key_id: 'k1',
        hash: '',
        seal: '',
      }),
    );
  return entries;
}

function spelt(number: string): string {
  const entries = chainWith(Number(number));
  const marked = entries.with(1, { ...(entries[1] as SentEntry), metadata: { amount: PLACE } });
  return JSON.stringify(packageOf(marked)).replace(String(PLACE), number);
}

describe('a number in an entry', () => {
  test.each(NUMBERS)('%s', async (spelling, [exit, content, findings]) => {
    const verified = await verifyFile({ bytes: spelt(spelling) });
    expect([verified.exit, verified.claims.content.state, verified.findings]).toEqual([exit, content, findings]);
    if (content === 'unproved')
      expect(verified.claims.content.reason).toContain(`entry 2 holds the number ${spelling}`);
  });

  test('two numbers that are one double are never both proved', async () => {
    const pairs = [
      ['12345678901234567000', '12345678901234567168'],
      ['100000000000000000000000', '99999999999999991611392'],
      ['0.1', '0.1000000000000000055'],
    ];
    for (const pair of pairs) {
      const states = await Promise.all(pair.map(async (number) => (await verifyFile({ bytes: spelt(number) })).exit));
      expect(states).toEqual([0, 3]);
    }
  });

  test('an edit beside such a number is not proved, and one in another entry is refuted', async () => {
    const text = spelt('9007199254740993');
    const beside = await verifyFile({ bytes: text.replace(/("sequence":2.*?"actor":")alice/, '$1mallory') });
    expect([beside.exit, beside.claims.content.state]).toEqual([3, 'unproved']);
    const elsewhere = await verifyFile({ bytes: text.replace('"actor":"alice"', '"actor":"mallory"') });
    expect([elsewhere.exit, elsewhere.claims.content.state]).toEqual([1, 'refuted']);
  });
});

/** Spellings of the middle entry's sequence number, 2. */
const SEQUENCES: [spelling: string, outcome: Outcome][] = [
  ['2', PROVED],
  ['2.0', PROVED],
  ['20e-1', PROVED],
  ['2.00000000000000000001', [3, 'unproved', ['contract/drift ']]],
  ['1.99999999999999999999', [3, 'unproved', ['contract/drift ']]],
  ['2.5', [3, 'unproved', ['contract/drift ']]],
  ['9007199254740993', [3, 'unproved', ['contract/drift ']]],
  ['-2', [3, 'unproved', ['contract/drift ']]],
];

describe('a number in the place of the sequence', () => {
  const text = JSON.stringify(packageOf(chainWith(7)));

  test.each(SEQUENCES)('%s', async (spelling, [exit, content, findings]) => {
    const verified = await verifyFile({ bytes: text.replace('"sequence":2,', `"sequence":${spelling},`) });
    expect([verified.exit, verified.claims.content.state, verified.findings]).toEqual([exit, content, findings]);
  });
});

/** Description whose digests cover the entry as sent. */
const AS_SENT: Description = {
  ...DEFAULT_DESCRIPTION,
  name: 'as sent',
  digest: {
    ...DEFAULT_DESCRIPTION.digest,
    recipe: {
      algorithm: 'sha-256',
      key: null,
      preimage: [{ json: { form: 'as-sent', without: ['hash', 'seal'] } }],
    },
  },
};

function sentWith(amount: string, sequence = '2'): string {
  const contract = openContract(AS_SENT);
  let previous = GENESIS;
  const texts = chainWith(1).map((entry, index) => {
    const place = index === 1 ? amount : '1';
    const draft = JSON.stringify({ ...entry, prev_hash: previous, hash: GENESIS, metadata: { amount: PLACE } })
      .replace(String(PLACE), place)
      .replace('"sequence":2,', `"sequence":${sequence},`);
    const members = Object.keys(entry).length + 1;
    const { content } = contract.readEntry(Buffer.from(draft), members, new Map());
    previous = content.state === 'computed' ? content.digest : previous;
    return draft.replace(`"hash":"${GENESIS}"`, `"hash":"${previous}"`);
  });
  return JSON.stringify(
    packageOf([], { entry_count: 3, first_sequence: 1, last_sequence: 3, head_hash: previous }),
  ).replace('"entries":[]', `"entries":[${texts}]`);
}

describe('digests over the text as it is sent', () => {
  test.each(['9007199254740993', '0.1000000000000000055', '1e400'])('cover %s', async (number) => {
    const verified = await verifyFile({ bytes: sentWith(number), contract: AS_SENT });
    expect([verified.exit, verified.claims.content.state, verified.findings]).toEqual(PROVED);
  });

  test('notice another number with the same double', async () => {
    const bytes = sentWith('9007199254740993').replace('9007199254740993', '9007199254740992');
    expect(await verifyFile({ bytes, contract: AS_SENT })).toMatchObject({ exit: 1, findings: ['content/mismatch 2'] });
  });

  test('do not make a sequence of what is no whole number', async () => {
    const drafts = sentWith('3.00000000000000000001');
    const bytes = drafts.replace('"sequence":2,', '"sequence":2.00000000000000000001,');
    expect(await verifyFile({ bytes, contract: AS_SENT })).toMatchObject({ exit: 3, findings: ['contract/drift '] });
  });
});

/** Numbers outside entries: the verifier must read each with its exact value. */
describe('a number outside of the entries', () => {
  const text = JSON.stringify(packageOf(chainWith(7)));

  test.each<[string, string, string, number]>([
    ['a count that is not quite 3', '"entry_count":3', '"entry_count":3.00000000000000000001', 3],
    ['a count beyond doubles', '"entry_count":3', '"entry_count":9007199254740993', 3],
    ['a fraction that plays no role', '"period":null', '"period":null,"load":0.10000000000000001', 0],
  ])('%s', async (_words, from, to, exit) => {
    expect((await verifyFile({ bytes: text.replace(from, to) })).exit).toBe(exit);
  });
});

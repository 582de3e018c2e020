import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { chainOf, packageOf, SEAL_KEY, type SentEntry, sealed } from '../support/chain.ts';
import { verifyFile } from '../support/verified.ts';

const LENGTH = 30;
const CUT = 11;
const intact = chainOf(LENGTH);

/** Rewrites, hashes and links the entries from `CUT` on, and seals them as the forger can. */
function rewritten(seal: (entry: SentEntry) => Partial<SentEntry>, keyId = 'k1'): SentEntry[] {
  const entries: SentEntry[] = [];
  for (const entry of intact) {
    if (entry.sequence < CUT) {
      entries.push(entry);
      continue;
    }
    const previous = entries.at(-1)?.hash ?? '';
    const hashed = sealed({ ...entry, actor: 'mallory', prev_hash: previous, seal_key_id: keyId });
    entries.push({ ...hashed, ...seal(hashed) });
  }
  return entries;
}

const withKey = (key: string) => (entry: SentEntry) => ({
  seal: createHmac('sha256', key).update(entry.hash).digest('hex'),
});
const NONE = undefined as unknown as string;

const K1 = { k1: SEAL_KEY };
const BOTH = { ...K1, k2: 'the second key' };
const MISSING = [`seal/missing ${CUT}-${LENGTH}`];
const UNKNOWN = [`seal/unknown-key ${CUT}-${LENGTH}`];
const MALFORMED = [`seal/malformed ${CUT}-${LENGTH}`];

type Row = [
  words: string,
  entries: SentEntry[],
  keys: Record<string, string>,
  outcome: [exit: number, seal: string, findings: string[], why: RegExp],
];

const ROWS: Row[] = [
  ['nothing is wrong', intact, K1, [0, 'proved', [], /30 of 30 seals/]],
  ['seals left out', rewritten(() => ({ seal: NONE })), K1, [1, 'refuted', MISSING, /20 of 30 entries have no seal/]],
  ['seals of null', rewritten(() => ({ seal: null as never })), K1, [1, 'refuted', MISSING, /20 of 30/]],
  ['seals without the name of a key', rewritten(() => ({}), null as never), K1, [1, 'refuted', MISSING, /./]],
  ['empty seals', rewritten(() => ({ seal: '' })), K1, [1, 'refuted', MALFORMED, /20 deviations/]],
  ['words as seals', rewritten(() => ({ seal: 'sealed' })), K1, [1, 'refuted', MALFORMED, /20 deviations/]],
  ['words as seals, and no key given', rewritten(() => ({ seal: 'sealed' })), {}, [1, 'refuted', MALFORMED, /./]],
  ['seals cut short', rewritten((entry) => ({ seal: entry.seal.slice(0, 32) })), K1, [1, 'refuted', MALFORMED, /./]],
  ['an object as seal', rewritten(() => ({ seal: {} as never })), K1, [1, 'refuted', MALFORMED, /./]],
  [
    'sealed anew with another key of another id',
    rewritten(withKey('forged'), 'k2'),
    K1,
    [0, 'unproved', UNKNOWN, /^20 of 30 seals are made with a key not given \("k2", from entry 11 on, after seals/],
  ],
  [
    'sealed anew with another key of the same id',
    rewritten(withKey('forged')),
    K1,
    [1, 'refuted', [`seal/mismatch ${CUT}-${LENGTH}`], /20 deviations/],
  ],
  [
    'the key was changed, and both are given',
    rewritten(withKey('the second key'), 'k2'),
    BOTH,
    [0, 'proved', [], /30 of 30/],
  ],
  [
    'the key was changed, and the newer one is given',
    rewritten(withKey('the second key'), 'k2'),
    { k2: 'the second key' },
    [0, 'unproved', ['seal/unknown-key 1-10'], /^10 of 30 seals are made with a key not given \("k1"\)/],
  ],
  [
    'no entry has a seal',
    rewritten(() => ({})).map((entry) => ({ ...entry, seal: NONE })),
    K1,
    [0, 'unproved', [], /30 of 30 entries have no seal/],
  ],
];

describe('seals that were tampered with', () => {
  test.each(ROWS)('%s', async (_words, entries, sealKeys, [exit, state, findings, why]) => {
    const verified = await verifyFile({ bytes: JSON.stringify(packageOf(entries)), sealKeys });
    const { seal } = verified.claims;
    expect([verified.exit, seal.state, verified.findings]).toEqual([exit, state, findings]);
    expect(seal.basis ?? seal.reason).toMatch(why);
  });
});

import { beforeAll, expect, test } from 'vitest';
import type { Certificate } from '../../src/core/timestamp/certificate.ts';
import { readRoots } from '../../src/core/timestamp/roots.ts';
import { PackageReader } from '../../src/verifier/chain/package.ts';
import type { Description } from '../../src/verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION, defaultContract } from '../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../src/verifier/reading/reading.ts';
import {
  chainOf,
  examineReading,
  GENESIS,
  type Observed,
  packageOf,
  type SentEntry,
  sealed,
} from '../support/chain.ts';
import { genTimeAt } from '../support/forging-authority.ts';
import { ca, forge, type Issued, issue, OID, purposes } from '../support/tsa-forge.ts';

let signer: Issued;
let roots: readonly Certificate[];
beforeAll(async () => {
  const root = await issue({ subject: 'CN=Root', to: '2060-01-01', extensions: [ca()] });
  signer = await issue({
    subject: 'CN=Authority',
    issuer: root,
    to: '2060-01-01',
    extensions: [purposes(true, OID.timeStamping)],
  });
  roots = readRoots(root.pem, 'root.pem');
});

const chain = chainOf(40);
const twelve = chain.slice(0, 12);

/** Returns a checkpoint with a token as a package has it; `serial` makes the token unique. */
function checkpoint({ stream_id, sequence, hash }: SentEntry, over = hash, genTime = '20261002000000Z') {
  const token = over === null ? null : forge(signer, { imprint: Buffer.from(over, 'hex'), genTime }).toString('base64');
  return { stream_id, sequence, hash, anchor: { token } };
}

interface MissingOptions {
  entries?: SentEntry[];
  checkpoints?: object[];
  digest?: Partial<Description['digest']>;
  more?: Partial<Observed>;
}

function anchorOf({ entries = twelve, checkpoints = [], digest, more = {} }: MissingOptions) {
  const described = { ...DEFAULT_DESCRIPTION, digest: { ...DEFAULT_DESCRIPTION.digest, ...digest } };
  const contract = digest === undefined ? defaultContract : openContract(described);
  const reader = new PackageReader(contract, new Map());
  reader.push(Buffer.from(JSON.stringify(packageOf(entries, { checkpoints }))));
  const { claims, findings } = examineReading(reader.finish(), [], { roots, contract, sealKeysGiven: false, ...more });
  const found = findings.map(({ code }) => code).filter((code) => code.startsWith('anchor/'));
  return { ...claims.anchor, found };
}

const tenth = chain[9] as SentEntry;
const fortieth = chain[39] as SentEntry;

test('a token over an entry stands for those before it', () => {
  expect(anchorOf({ checkpoints: [checkpoint(tenth)] })).toMatchObject({
    state: 'proved',
    anchored_through: 10,
    entries_after_last_anchor: 2,
  });
});

const JUDGED = new Date('2026-11-30T00:00:00Z');
const ahead = (milliseconds: number) => genTimeAt(new Date(JUDGED.getTime() + milliseconds));
const DAY = 86_400_000;
const AHEAD: [words: string, genTime: string, state: string, found: string[]][] = [
  ['four minutes', ahead(4 * 60_000), 'proved', []],
  ['six minutes', ahead(6 * 60_000), 'unproved', ['anchor/future']],
  ['a day', ahead(DAY), 'unproved', ['anchor/future']],
  ['years', '20350102000000Z', 'unproved', ['anchor/future']],
];

test.each(AHEAD)('a token of a time that is ahead by %s', (_words, genTime, state, found) => {
  expect(anchorOf({ checkpoints: [checkpoint(tenth, tenth.hash, genTime)], more: { now: JUDGED } })).toMatchObject({
    state,
    found,
  });
});

test.each([
  ['another that holds', () => checkpoint(chain[4] as SentEntry), { state: 'proved', anchored_through: 5 }, []],
  [
    'another that does not hold',
    () => checkpoint(chain[4] as SentEntry, 'cd'.repeat(32)),
    { state: 'refuted' },
    ['anchor/imprint-mismatch'],
  ],
])('a token of the future does not count beside %s', (_words, make, state, more) => {
  const { found, ...anchor } = anchorOf({
    checkpoints: [checkpoint(tenth, tenth.hash, ahead(DAY)), make()],
    more: { now: JUDGED },
  });
  expect(anchor).toMatchObject(state);
  expect(found.sort()).toEqual(['anchor/future', ...more]);
});

test('a token of the future over another digest is refuted all the same', () => {
  const checkpoints = [checkpoint(tenth, 'cd'.repeat(32), ahead(DAY))];
  expect(anchorOf({ checkpoints, more: { now: JUDGED } })).toMatchObject({
    state: 'refuted',
    found: ['anchor/imprint-mismatch'],
  });
});

test.each([
  ['with a sound token', (entry: SentEntry) => checkpoint(entry)],
  [
    'without a token',
    ({ stream_id, sequence, hash }: SentEntry) => ({ stream_id, sequence, hash, anchor: { token: null } }),
  ],
])('a package cut off, with a checkpoint left behind its end: %s', (_words, make) => {
  expect(anchorOf({ checkpoints: [checkpoint(tenth), make(fortieth)] })).toMatchObject({
    state: 'refuted',
    found: ['anchor/missing-entry'],
  });
});

test('a checkpoint after the end of a period that has ended is in order', () => {
  const period = { from: null, to: '2026-10-01T00:00:13Z' };
  expect(anchorOf({ checkpoints: [checkpoint(tenth), checkpoint(fortieth)], more: { period } })).toMatchObject({
    state: 'proved',
    found: [],
  });
});

const ofOther = (entry: SentEntry) => ({ ...checkpoint(entry), stream_id: 'other' });
const OTHER: [string, () => object[], string][] = [
  ['alone', () => [ofOther(tenth)], 'unproved'],
  ['beside one of the stream', () => [ofOther(tenth), checkpoint(chain[4] as SentEntry)], 'proved'],
  ['at a number where the stream has another digest', () => [{ ...ofOther(tenth), hash: 'ab'.repeat(32) }], 'unproved'],
  ['after the end of the package', () => [ofOther(fortieth)], 'unproved'],
];

test.each(OTHER)('a checkpoint that names another stream, over a digest of ours: %s', (_words, make, state) => {
  const { found, ...anchor } = anchorOf({ checkpoints: make() });
  expect([anchor.state, found]).toEqual([state, ['anchor/other-stream']]);
  if (state === 'proved') expect(anchor.anchored_through).toBe(5);
});

test.each([
  ['a sound one', () => checkpoint(tenth)],
  ['one over another digest', () => checkpoint(tenth, 'cd'.repeat(32))],
])('where tokens cannot be checked, none proves or refutes anything: %s', (_words, make) => {
  expect(anchorOf({ checkpoints: [make()], more: { verifyToken: null } })).toMatchObject({
    state: 'unproved',
    reason: 'no token could be checked',
    found: [],
  });
});

test('a checkpoint that states another digest than its entry', () => {
  const { stream_id, sequence } = tenth;
  const other = { stream_id, sequence, hash: 'ab'.repeat(32), anchor: { token: null } };
  expect(anchorOf({ checkpoints: [other] })).toMatchObject({ state: 'refuted', found: ['anchor/imprint-mismatch'] });
});

test('a bad token among a thousand copies of a good one', () => {
  const good = checkpoint(tenth);
  const bad = checkpoint(chain[4] as SentEntry, 'cd'.repeat(32));
  expect(anchorOf({ checkpoints: [bad, ...Array(1001).fill(good)] })).toMatchObject({
    state: 'refuted',
    found: ['anchor/imprint-mismatch'],
  });
});

test('more tokens than are judged are counted, and the newest are judged wherever they stand', () => {
  const entries = chainOf(1010);
  const checkpoints = entries.map((entry) => checkpoint(entry)).toReversed();
  expect(anchorOf({ entries, checkpoints })).toMatchObject({
    state: 'proved',
    anchored_through: 1010,
    tokens_not_judged: 10,
    basis: expect.stringContaining('10 older tokens were not judged'),
  });
});

test('where digests are not over the one before, a token is for its entry alone', () => {
  const preimage = [{ json: { form: 'rfc8785' as const, without: ['hash', 'seal', 'prev_hash'] } }];
  const linked = (change: number) => {
    const after: SentEntry[] = [];
    for (const entry of twelve) {
      const { prev_hash: _link, ...rest } = entry.sequence === change ? { ...entry, actor: 'm' } : entry;
      after.push({ ...sealed(rest as SentEntry), prev_hash: after.at(-1)?.hash ?? GENESIS });
    }
    return after;
  };
  const token = checkpoint(linked(0)[9] as SentEntry);
  const digest = { recipe: { algorithm: 'sha-256' as const, key: null, preimage } };
  const anchor = anchorOf({ entries: linked(4), checkpoints: [token], digest });
  expect(anchor).toMatchObject({ state: 'proved', basis: expect.stringContaining('covers its entry alone') });
  expect([anchor.anchored_through, anchor.entries_after_last_anchor]).toEqual([undefined, undefined]);
});

const keyed = {
  algorithm: 'hmac-sha-256' as const,
  key: { field: 'seal_key_id' },
  preimage: [{ json: { form: 'rfc8785' as const, without: ['hash', 'seal'] } }],
};
const UNKNOWN: [string, Partial<Description['digest']>][] = [
  ['no recipe is known', { recipe: null }],
  ['digests are keyed, and the key is not given', { recipe: keyed }],
];

test.each(UNKNOWN)(
  'a token over a digest that cannot be recomputed proves and refutes nothing: %s',
  (_words, digest) => {
    for (const pinned of [roots, null])
      expect(anchorOf({ checkpoints: [checkpoint(tenth)], digest, more: { roots: pinned } })).toMatchObject({
        state: 'unproved',
        found: [],
      });
  },
);

test('without roots a token that is over another digest is one, and what it says else counts for nothing', () => {
  const more = { roots: null };
  expect(anchorOf({ checkpoints: [checkpoint(tenth)], more }).state).toBe('unproved');
  expect(anchorOf({ checkpoints: [checkpoint(tenth, tenth.hash, '20200101000000Z')], more }).state).toBe('unproved');
  expect(anchorOf({ checkpoints: [checkpoint(tenth, 'ab'.repeat(32))], more }).state).toBe('refuted');
});

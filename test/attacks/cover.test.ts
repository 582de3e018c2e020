import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Description } from '../../src/verifier/profile/description.ts';
import type { PreimagePart } from '../../src/verifier/profile/digest-description.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../src/verifier/reading/reading.ts';
import { GENESIS, packageOf, type SentEntry, STREAM } from '../support/chain.ts';
import { writePackageBundle } from '../support/package-bundle.ts';
import { verifyFile } from '../support/verified.ts';

type Entry = Record<string, unknown>;
type Changes = Partial<Description['entry']> & { seal?: Description['seal'] };

const UNNAMED = { actor: null, action: null, resource: null };
const { seal: SEAL } = DEFAULT_DESCRIPTION;

function describeBy(preimage: PreimagePart[], { seal = null, ...entry }: Changes = {}): Description {
  return {
    ...DEFAULT_DESCRIPTION,
    entry: { ...DEFAULT_DESCRIPTION.entry, ...entry },
    digest: { ...DEFAULT_DESCRIPTION.digest, recipe: { algorithm: 'sha-256', key: null, preimage } },
    seal,
  };
}

const without = (...names: string[]): PreimagePart[] => [{ json: { form: 'rfc8785', without: names } }];
const join_of = (...fields: string[]): PreimagePart[] => [{ join: { separator: '|', fields, null_as: '' } }];

/** Builds ten entries with the digests that the description defines. */
function chainBy(description: Description, more: Entry = {}): Entry[] {
  const contract = openContract(description);
  const entries: Entry[] = [];
  for (let sequence = 1; sequence <= 10; sequence++) {
    const draft: Entry = {
      entry_id: `e-${sequence}`,
      stream_id: STREAM,
      sequence,
      timestamp: `2026-10-01T00:00:${String(sequence).padStart(2, '0')}.000Z`,
      actor: 'alice',
      action: 'payment.created',
      resource_type: 'payment',
      resource_id: `p/${sequence}`,
      metadata: { amount: sequence },
      ...more,
      prev_hash: entries.at(-1)?.['hash'] ?? GENESIS,
      hash: GENESIS,
    };
    const bytes = Buffer.from(JSON.stringify(draft));
    const { content } = contract.readEntry(bytes, JSON.stringify(draft).split('":').length - 1, new Map());
    entries.push({ ...draft, hash: content.state === 'computed' ? content.digest : '' });
  }
  return entries;
}

const toText = (entries: Entry[]) => JSON.stringify(packageOf(entries as unknown as SentEntry[]));
const withActor = (entry: Entry) => ({ ...entry, actor: 'mallory' });

interface Case {
  words: string;
  description: Description;
  /** Members that every entry has in addition. */
  more?: Entry;
  /** Changes an entry after its digest was computed. */
  tamper?: (entry: Entry) => Entry;
  exit: number;
  content: 'proved' | 'unproved' | 'refuted';
  not_covered?: string[];
  reason?: RegExp;
}

const CASES: Case[] = [
  {
    words: 'the usual recipe covers all',
    description: describeBy(without('hash')),
    exit: 0,
    content: 'proved',
  },
  {
    words: 'metadata is called the seal, and neither it nor the seal is hashed',
    description: describeBy(without('hash', 'seal', 'metadata'), {
      ...UNNAMED,
      seal: { ...SEAL, field: 'metadata' } as never,
    }),
    more: { seal: 'ab'.repeat(32) },
    tamper: (entry) => ({ ...entry, metadata: { amount: 1e6 } }),
    exit: 1,
    content: 'unproved',
    not_covered: ['seal', 'metadata'],
    reason: /do not cover seal, metadata, .* not the actor or the action or the resource/,
  },
  {
    words: 'metadata is called the seal, and rewritten',
    description: describeBy(without('hash', 'metadata'), { seal: { ...SEAL, field: 'metadata' } as never }),
    tamper: (entry) => ({ ...entry, metadata: { amount: 1e6 } }),
    exit: 1,
    content: 'proved',
    not_covered: ['metadata'],
  },
  {
    words: 'the actor is called the seal, and rewritten',
    description: describeBy(without('hash', 'actor'), { seal: { ...SEAL, field: 'actor' } as never }),
    tamper: withActor,
    exit: 1,
    content: 'unproved',
    not_covered: ['actor'],
    reason: /the actor \(actor\)/,
  },
  {
    words: 'the actor is called the seal, and looks like one',
    description: describeBy(without('hash', 'actor'), { ...UNNAMED, seal: { ...SEAL, field: 'actor' } as never }),
    tamper: (entry) => ({ ...entry, actor: 'ab'.repeat(32) }),
    exit: 3,
    content: 'unproved',
    not_covered: ['actor'],
  },
  {
    words: 'a seal that nobody checked is named',
    description: describeBy(without('hash', 'seal'), { seal: SEAL }),
    more: { seal: 'ab'.repeat(32), seal_key_id: 'k1' },
    exit: 0,
    content: 'proved',
    not_covered: ['seal'],
  },
  {
    words: 'the actor is not hashed, and the contract names it',
    description: describeBy(without('hash', 'actor')),
    tamper: withActor,
    exit: 3,
    content: 'unproved',
    not_covered: ['actor'],
    reason: /digests do not cover the actor \(actor\); who accepts that says so of: actor/,
  },
  {
    words: 'the actor is not hashed, and the contract does not name it',
    description: describeBy(without('hash', 'actor'), UNNAMED),
    tamper: withActor,
    exit: 3,
    content: 'unproved',
    not_covered: ['actor'],
  },
  {
    words: 'another member is called the actor that no entry has',
    description: describeBy(join_of('prev_hash', 'stream_id', 'sequence', 'timestamp', 'action', 'resource_id'), {
      actor: 'who',
      resource: 'resource_id',
    }),
    tamper: withActor,
    exit: 3,
    content: 'unproved',
    reason: /the actor \(who\)/,
  },
  {
    words: 'a part of the actor is hashed',
    description: describeBy(
      join_of('prev_hash', 'stream_id', 'sequence', 'timestamp', 'user.id', 'action', 'resource_id'),
      { actor: 'user', resource: 'resource_id' },
    ),
    more: { user: { id: 'u1', name: 'alice' } },
    tamper: (entry) => ({ ...entry, user: { id: 'u1', name: 'mallory' } }),
    exit: 3,
    content: 'unproved',
    reason: /the actor \(user\.name\)/,
  },
  {
    words: 'only a constant is hashed',
    description: describeBy([{ text: 'constant' }]),
    tamper: withActor,
    exit: 3,
    content: 'unproved',
    reason:
      /the stream \(stream_id\), the sequence number \(sequence\), the link .* \(prev_hash\), the time \(timestamp\), the actor/,
  },
  {
    words: 'only the sequence number is hashed',
    description: describeBy(join_of('sequence')),
    tamper: withActor,
    exit: 3,
    content: 'unproved',
  },
  {
    words: 'the link is not hashed',
    description: describeBy(without('hash', 'prev_hash')),
    exit: 3,
    content: 'unproved',
    reason: /the link to the entry before \(prev_hash\)/,
  },
  {
    words: 'the time is not hashed',
    description: describeBy(without('hash', 'timestamp')),
    tamper: (entry) => ({ ...entry, timestamp: '2026-10-01T00:01:00.000Z' }),
    exit: 3,
    content: 'unproved',
    reason: /the time \(timestamp\)/,
  },
  {
    words: 'entries say neither stream nor time',
    description: describeBy(without('hash'), { stream_id: null, timestamp: null }),
    exit: 3,
    content: 'unproved',
    reason: /^entries do not say the stream, the time; .*who accepts that says so of: stream,time/,
  },
  {
    words: 'where the actor ends is open',
    description: describeBy([
      'previous',
      ...join_of('stream_id', 'sequence', 'timestamp', 'actor', 'action', 'resource_type', 'resource_id'),
    ]),
    more: { actor: 'alice|x', action: 'read' },
    tamper: (entry) => ({ ...entry, actor: 'alice', action: 'x|read' }),
    exit: 3,
    content: 'unproved',
    reason: /the actor \(where each of stream_id .* ends\)/,
  },
  {
    words: 'what plays no role is not hashed, and the contract names what does',
    description: describeBy(without('hash', 'metadata')),
    tamper: (entry) => ({ ...entry, metadata: {} }),
    exit: 0,
    content: 'proved',
    not_covered: ['metadata'],
  },
];

/** Computes digests by an honest description; the case's description then reads the package. */
function textOf({ description, more, tamper = (entry) => entry }: Case): string {
  return toText(chainBy(description, more).map(tamper));
}

describe('what digests leave out', () => {
  test.each(CASES)('$words', async (one) => {
    const { exit, content, not_covered, reason } = one;
    const verified = await verifyFile({ bytes: textOf(one), contract: one.description });
    expect([verified.exit, verified.claims.content.state]).toEqual([exit, content]);
    if (not_covered !== undefined) expect(verified.claims.content.not_covered).toEqual(not_covered);
    if (reason !== undefined) expect(verified.claims.content.reason).toMatch(reason);
  });
});

describe('what is accepted by name', () => {
  const description = describeBy(without('hash', 'actor', 'metadata'));
  const bytes = toText(chainBy(description));

  test.each<[string[], number]>([
    [['actor'], 0],
    [['time,actor'], 0],
    [['action'], 3],
    [['act'], 3],
    [['metadata'], 3],
  ])('%j', async (accepted, exit) => {
    const { exit: ended, claims } = await verifyFile({
      bytes,
      contract: description,
      flags: { 'accept-unhashed': accepted },
    });
    expect(ended).toBe(exit);
    if (exit === 0) expect(claims.content.basis).toMatch(/; accepted as not covered: actor \(actor\)$/);
  });

  test('a member that may be one of three', async () => {
    const unnamed = describeBy(without('hash', 'metadata'), UNNAMED);
    const read = async (...accepted: string[]) =>
      (await verifyFile({ bytes: toText(chainBy(unnamed)), contract: unnamed, flags: { 'accept-unhashed': accepted } }))
        .exit;
    expect([await read('metadata'), await read('actor'), await read('actor', 'action', 'resource')]).toEqual([0, 3, 0]);
  });

  test('what was not sent when it was accepted is not accepted', async () => {
    const added = toText(chainBy(description).map((entry) => ({ ...entry, resource_id: 'x' })));
    expect(
      (await verifyFile({ bytes: added, contract: description, flags: { 'accept-unhashed': ['actor'] } })).exit,
    ).toBe(1);
  });
});

describe('a bundle that brings its contract', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'cover-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function bundleBy(description: Description, tamper: (entry: Entry) => Entry, required?: ['order']) {
    const target = join(folder, 'bundle.zip');
    const evidence = Buffer.from(toText(chainBy(description).map(tamper)));
    await writePackageBundle({
      target,
      evidence,
      description,
      ...(required === undefined ? { required: ['order', 'content'] } : { required }),
      // A forger can state any verdict.
      restate: (verdict) => ({
        ...verdict,
        claims: { ...verdict.claims, content: { state: 'proved', basis: 'trust me' } },
      }),
    });
    rmSync(join(folder, 'bundle.zip.copy'), { force: true });
    const bytes = readFileSync(target);
    rmSync(target);
    return bytes;
  }

  test('is told by name and digest, even where it calls itself "default"', async () => {
    const bytes = await bundleBy(describeBy(without('hash', 'metadata')), (entry) => ({ ...entry, metadata: {} }));
    const { exit, claims } = await verifyFile({ name: 'bundle.zip', bytes });
    expect(exit).toBe(0);
    expect(claims.content).toMatchObject({
      state: 'proved',
      by_contract: expect.stringMatching(/^by the contract that the bundle brings \("default", sha256 [0-9a-f]{64}\)$/),
      basis: expect.stringContaining('by the contract that the bundle brings ("default"'),
      not_covered: ['metadata'],
    });
  });

  test('that calls the actor the seal proves nothing', async () => {
    const description = describeBy(without('hash', 'actor'), { seal: { ...SEAL, field: 'actor' } as never });
    const { exit, claims } = await verifyFile({ name: 'bundle.zip', bytes: await bundleBy(description, withActor) });
    expect([exit, claims.content.state, claims.content.not_covered]).toEqual([1, 'unproved', ['actor']]);
  });

  test("without the reader's acceptance states more than is proved", async () => {
    const bytes = await bundleBy(describeBy(without('hash', 'actor')), withActor);
    const { exit, claims } = await verifyFile({ name: 'bundle.zip', bytes });
    expect([exit, claims.content.state]).toEqual([1, 'unproved']);
  });
});

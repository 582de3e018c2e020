import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../src/core/digest.ts';
import { PackageReader, type PackageReading } from '../../../src/verifier/chain/package.ts';
import type { SealKeys } from '../../../src/verifier/model/entry.ts';
import type { Description } from '../../../src/verifier/profile/description.ts';
import type { PreimagePart } from '../../../src/verifier/profile/digest-description.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../../src/verifier/reading/reading.ts';
import { bare, examineReading } from '../../support/chain.ts';
import { thrownBy } from '../../support/json.ts';

const JOINED = ['s', 'n', 'at', 'link.before', 'what'];

/**
 * Describes a service that differs from the default in every way: nested, counted from 0, numbers as text, nested
 * names.
 */
function describeService(more: Partial<Description> = {}): Description {
  return {
    ...DEFAULT_DESCRIPTION,
    name: 'another',
    numbers: 'text',
    package: {
      entries: 'evidence.items',
      format: { field: 'kind', is: 'evidence' },
      fields: {
        package_id: 'ref',
        stream_id: 'evidence.s',
        entry_count: 'evidence.count',
        first_sequence: 'evidence.first',
        last_sequence: 'evidence.last',
        head_digest: 'evidence.head',
        generated_at: 'made',
      },
      checkpoints: {
        items: 'marks',
        stream_id: 's',
        sequence: 'n',
        digest: 'mac',
        token: 'proof.token',
        token_encoding: 'base64',
      },
    },
    summary: { package_id: 'ref', stream_id: 's', entry_count: 'count', head_digest: 'head', actions: null },
    entry: {
      stream_id: 's',
      sequence: 'n',
      first_sequence: 0,
      entry_id: 'id',
      timestamp: 'at',
      timestamp_unit: 'text',
      previous: 'link.before',
      digest: 'link.mac',
      actor: 'what',
      action: 'what',
      resource: 'what',
    },
    digest: digestBy('sha-256'),
    seal: null,
    ...more,
  };
}

function digestBy(
  algorithm: 'sha-256' | 'hmac-sha-256',
  preimage: PreimagePart[] = [joinOf(JOINED)],
): Description['digest'] {
  const key = algorithm === 'sha-256' ? null : { id: 'k1' };
  return { encoding: 'hex', prefix: '', genesis: 'empty', recipe: { algorithm, key, preimage } };
}

function joinOf(fields: string[]): PreimagePart {
  return { join: { separator: '|', fields, null_as: '' } };
}

interface Sent {
  s: string;
  n: string;
  id: string;
  at: string;
  what: string;
  link: { before: string; mac: string };
  [name: string]: unknown;
}

const SECRET = 'a key of the service';
const KEYS: SealKeys = new Map([['k1', toHmacKey(Buffer.from(SECRET))]]);

function chainOf(length: number, secret: string | null = null): Sent[] {
  const entries: Sent[] = [];
  for (let n = 0; n < length; n++) {
    const before = entries.at(-1)?.link.mac ?? '';
    const at = `2026-10-01T00:00:${String(n).padStart(2, '0')}Z`;
    const data = ['payments', n, at, before, `w${n}`].join('|');
    const mac = (secret === null ? createHash('sha256') : createHmac('sha256', secret)).update(data).digest('hex');
    entries.push({ s: 'payments', n: String(n), id: `e-${n}`, at, what: `w${n}`, link: { before, mac } });
  }
  return entries;
}

function packageOf(entries: Sent[]) {
  const head = entries.at(-1)?.link.mac;
  return {
    kind: 'evidence',
    ref: 'p-1',
    made: '2026-11-01T00:00:00Z',
    marks: [{ s: 'payments', n: '3', mac: entries[3]?.link.mac, proof: { token: null } }],
    evidence: {
      s: 'payments',
      count: String(entries.length),
      first: '0',
      last: String(entries.length - 1),
      head,
      items: entries,
    },
  };
}

function read(sent: unknown, description = describeService(), keys: SealKeys = new Map()): PackageReading {
  const reader = new PackageReader(openContract(description), keys);
  for (const byte of Buffer.from(JSON.stringify(sent))) reader.push(Uint8Array.of(byte));
  return reader.finish();
}

function examined(sent: unknown, description = describeService(), keys: SealKeys = new Map()) {
  const more = { contract: openContract(description), sealKeysGiven: keys.size > 0 };
  return examineReading(read(sent, description, keys), ['order', 'content'], more);
}

describe('a stream counted from 0', () => {
  const entries = chainOf(8);

  test('starts at its genesis, and is verified', () => {
    expect(read(packageOf(entries))).toMatchObject({
      walk: { startsAtGenesis: true, first: { sequence: 0 }, head: { sequence: 7 } },
    });
    const { status, claims, findings } = examined(packageOf(entries));
    expect([status, findings]).toEqual(['verified', []]);
    expect(claims.content).toEqual({
      state: 'proved',
      basis: '8 of 8 digests recomputed: hex(sha-256(join("|", s, n, at, link.before, what))); not covered by them: id',
      not_covered: ['id'],
    });
  });

  test.each<[string, (entries: Sent[]) => Sent[], string[]]>([
    ['without its first entry', (all) => all.slice(1), []],
    ['with a hole', (all) => all.toSpliced(3, 2), ['order/gap 3-4']],
    [
      'whose entry 1 claims to be the first',
      (all) => all.with(1, { ...all[1], link: { ...all[1]?.link, before: '' } } as Sent),
      ['order/genesis 1', 'content/mismatch 1'],
    ],
    [
      'whose entry 0 names a predecessor',
      (all) => all.with(0, { ...all[0], link: { ...all[0]?.link, before: 'ab'.repeat(32) } } as Sent),
      ['order/genesis 0', 'content/mismatch 0'],
    ],
    [
      'with another first entry too',
      (all) => [...all.slice(0, 1), { ...all[0], what: 'x' } as Sent, ...all.slice(1)],
      ['order/duplicate 0', 'content/mismatch 0'],
    ],
  ])('%s', (_words, change, expected) => {
    const { findings } = examined(packageOf(change(entries)));
    const found = bare(findings).filter((finding) => /^(?:order|content)/.test(finding));
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  test('whose first entry says that it is of another stream is linked all the same', () => {
    const reading = read(
      packageOf(entries.with(0, { ...entries[0], s: 'other' } as Sent)),
      describeService(),
      new Map(),
    );
    expect(bare(reading.walk.findings.list())).toEqual(['order/foreign-entry 0', 'content/mismatch 0']);
    expect(reading.walk.first).toEqual({ sequence: 0, previous: '' });
  });

  test('of which entry 0 is missing does not start at its genesis', () => {
    expect(read(packageOf(entries.slice(1))).walk.startsAtGenesis).toBe(false);
  });
});

describe('content', () => {
  test('without a recipe is unproved, and nothing is deviant', () => {
    const description = describeService({ digest: { ...digestBy('sha-256'), recipe: null } });
    const { claims, findings } = examined(packageOf(chainOf(8)), description);
    expect(claims.order.state).toBe('proved');
    expect(claims.content).toEqual({
      state: 'unproved',
      code: 'no-recipe',
      reason: expect.stringMatching(/^no recipe is known .* verify: { require: \[order\] }$/),
    });
    expect(findings).toEqual([]);
  });

  const keyed = describeService({ digest: digestBy('hmac-sha-256') });

  test('made with a key is proved with it', () => {
    expect(examined(packageOf(chainOf(8, SECRET)), keyed, KEYS).claims.content).toMatchObject({ state: 'proved' });
  });

  test('made with a key names it, and no other that was given', () => {
    const more = new Map([...KEYS, ['k2', toHmacKey(Buffer.from(SECRET))]]);
    const sound = chainOf(8, SECRET);
    for (const entries of [sound, sound.map((entry) => ({ ...entry, what: 'another' }))])
      expect([...read(packageOf(entries), keyed, more).walk.seals.keyIds]).toEqual(['k1']);
  });

  test('made with a key is unproved without it, and no deviation', () => {
    const { claims, findings, status } = examined(packageOf(chainOf(8, SECRET)), keyed);
    expect(claims.content).toEqual({
      state: 'unproved',
      code: 'key-not-given',
      reason: '8 of 8 digests are made with a key not given',
    });
    expect([findings, status]).toEqual([[], 'incomplete']);
  });

  test('made with a key of which only another was given says which', () => {
    const other = new Map([['k2', toHmacKey(Buffer.from(SECRET))]]);
    const { claims, findings } = examined(packageOf(chainOf(8, SECRET)), keyed, other);
    expect(claims.content).toMatchObject({ state: 'unproved' });
    expect(findings).toMatchObject([
      { code: 'seal/unknown-key', severity: 'warning', from: 0, to: 7, message: expect.stringContaining('"k1"') },
    ]);
  });

  test('made with a key is refuted with a wrong one', () => {
    const wrong = new Map([['k1', toHmacKey(Buffer.from('wrong'))]]);
    expect(bare(examined(packageOf(chainOf(8, SECRET)), keyed, wrong).findings)).toEqual(['content/mismatch 0-7']);
  });

  test('names sequence, link and stream first where they are not covered, and says when there is more', () => {
    const plain = digestBy('sha-256', [joinOf(['what'])]);
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`x${index}`, index]));
    const entries = chainOf(5).map((entry, n, all) => {
      const mac = createHash('sha256').update(entry.what).digest('hex');
      const before =
        n === 0
          ? ''
          : createHash('sha256')
              .update(all[0]?.what ?? '')
              .digest('hex');
      return { ...many, ...entry, link: { before, mac } };
    });
    const { claims } = examined(packageOf(entries), describeService({ digest: plain }));
    expect(claims.content).toMatchObject({
      state: 'unproved',
      not_covered: expect.arrayContaining(['n', 'link.before', 's', 'at', 'id', 'x0', 'more']),
      reason: expect.stringMatching(
        /^digests do not cover the stream \(s\), the sequence number \(n\), the link .* \(link\.before\), the time \(at\); .* more,/,
      ),
    });
  });
});

/** A path of the document with its new value; undefined removes the member. */
type Drift = [path: string, value: unknown, field: string, what: string];

const ENTRY: Drift[] = (
  [
    ['s', ['payments']],
    ['n', '3x'],
    ['n', -1],
    ['n', 2.5],
    ['id', { a: 1 }],
    ['at', 1_790_000_000],
    ['at', 'yesterday'],
    ['at', '2026-13-01T00:00:00Z'],
    ['link.before', 'ABCDEF'],
    ['link.before', null],
    ['link.mac', 'ab'],
    ['link.mac', 7],
    ['link', 'gone'],
    ...['s', 'n', 'id', 'at', 'link.before', 'link.mac'].map((field) => [field, undefined] as const),
  ] as const
).map(([path, value]) => [`evidence.items.5.${path}`, value, path === 'link' ? 'link.before' : path, 'an entry']);

const PACKAGE: Drift[] = (
  [
    ['kind', 'evidence/2'],
    ['ref', {}],
    ['ref', null],
    ['evidence.s', 7],
    ['evidence.count', 'many'],
    ['evidence.count', null],
    ['evidence.first', '-1'],
    ['evidence.last', true],
    ['evidence.head', 'ABC'],
    ['made', 1],
    ...['kind', 'ref', 'evidence.s', 'evidence.count', 'evidence.first', 'evidence.last', 'evidence.head', 'made'].map(
      (field) => [field, undefined] as const,
    ),
  ] as const
).map(([path, value]) => [path, value, path, 'the package']);

const CHECKPOINT: Drift[] = (
  [
    ['s', 1],
    ['n', 'x'],
    ['mac', 'zz'],
    ['mac', null],
    ['proof.token', 7],
    ...['s', 'n', 'mac', 'proof.token'].map((field) => [field, undefined] as const),
  ] as const
).map(([path, value]) => [`marks.0.${path}`, value, path, 'a checkpoint']);

function withValue(document: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(document);
  const names = path.split('.');
  const last = names.pop() ?? '';
  const holder = names.reduce((here, name) => (here as Record<string, unknown>)[name], copy) as Record<string, unknown>;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

describe('drift: a field that plays a role', () => {
  const sent = packageOf(chainOf(8));

  test('the package that drifts is sound before', () => {
    expect(examined(sent)).toMatchObject({ status: 'verified', findings: [] });
  });

  test.each([...ENTRY, ...PACKAGE, ...CHECKPOINT])('%s is %j', (path, value, field, what) => {
    const drifted = withValue(sent, path, value);
    const { status, claims, findings } = examined(drifted);
    expect(status).toBe('incomplete');
    expect(findings).toMatchObject([{ code: 'contract/drift', severity: 'error' }]);
    expect(findings[0]?.message).toContain(`the field "${field}" of ${what} is not `);
    expect(findings[0]?.message).toContain('the contract "another"');
    expect(new Set(Object.values(claims).map(({ state }) => state))).toEqual(new Set(['unproved']));
  });

  test.each([
    ['gone', undefined],
    ['an object', {}],
    ['null', null],
  ])('the list of checkpoints is %s', (_words, value) => {
    expect(examined(withValue(sent, 'marks', value))).toMatchObject({
      status: 'incomplete',
      findings: [{ code: 'contract/drift', message: expect.stringContaining('"marks" of the package') }],
    });
  });

  test('a member that plays no role may change and vanish', () => {
    for (const value of [undefined, 7, { a: 1 }])
      expect(examined(withValue(sent, 'evidence.items.5.note', value))).toMatchObject({ status: 'verified' });
  });
});

describe('drift: the summary', () => {
  const contract = openContract(describeService());
  const summary = { ref: 'p-1', s: 'payments', count: '8', head: 'ab'.repeat(32) };
  const readSummary = (sent: unknown) => contract.readSummary(Buffer.from(JSON.stringify(sent)));

  test('is read before', () => {
    expect(readSummary(summary)).toEqual({
      packageId: 'p-1',
      streamId: 'payments',
      entryCount: 8,
      headDigest: 'ab'.repeat(32),
      actions: null,
      plain: [],
    });
  });

  test.each<[string, unknown]>([
    ...['ref', 's', 'count', 'head'].map((field): [string, unknown] => [field, undefined]),
    ['ref', null],
    ['s', 1],
    ['count', -1],
    ['count', 'x'],
    ['head', 'x'],
    ['head', 7],
  ])('%s is %j', (field, value) => {
    expect(thrownBy(() => readSummary(withValue(summary, field, value)))).toMatchObject({
      code: 'contract',
      message: expect.stringMatching(`the field "${field}" of the summary is not .*the contract "another"`),
    });
  });

  test('is not read where it is no JSON', () => {
    const none = openContract(describeService({ summary: null }));
    expect(thrownBy(() => none.readSummary(Buffer.from('{}')))).toMatchObject({ code: 'unreadable' });
  });
});

test('a package of the account whose head drifts refutes no stream', () => {
  const two = [...chainOf(4), ...chainOf(4).map((entry) => ({ ...entry, s: 'other' }))];
  const description = describeService({ generate: { ...DEFAULT_DESCRIPTION.generate, scope: 'account' } });
  const sent = withValue(packageOf(two), 'ref', {});
  const reader = new PackageReader(openContract(description), new Map());
  reader.push(Buffer.from(JSON.stringify(sent)));
  for (const reading of reader.finishEach()) {
    expect(reading.defect).toMatchObject({ code: 'contract/drift' });
    expect(bare(examineReading(reading).findings).filter((code) => code.startsWith('order'))).toEqual([]);
  }
});

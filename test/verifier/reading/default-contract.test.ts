import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../src/core/digest.ts';
import { entrySchema, summarySchema } from '../../../src/platform/audit/wire.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { chainOf, GENESIS, SEAL_KEY, type SentEntry } from '../../support/chain.ts';
import { thrownBy } from '../../support/json.ts';

const [first] = chainOf(1) as [SentEntry];

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, item) => sum + countMembers(item), 0);
  return inner + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

function readEntry(text: string) {
  return defaultContract.readEntry(Buffer.from(text), countMembers(JSON.parse(text)), new Map());
}

test('an entry in our words', () => {
  expect(readEntry(JSON.stringify(first))).toEqual({
    streamId: first.stream_id,
    sequence: 1,
    entryId: 'e-1',
    timestamp: first.timestamp,
    previous: GENESIS,
    digest: first.hash,
    digestText: first.hash,
    content: { state: 'computed', digest: first.hash, keyId: null, unhashed: [] },
    seal: { keyId: 'k1', value: first.seal },
    words: expect.any(Function),
  });
  expect(defaultContract.genesis).toBe(GENESIS);
});

test('the digest does not depend on the order of members, white space or escapes', () => {
  const reversed = Object.fromEntries(Object.entries(first).toReversed());
  const spaced = JSON.stringify(reversed, null, 3).replace('payment.created', 'payment\\u002ecreated');
  expect(readEntry(spaced).content).toMatchObject({ state: 'computed', digest: first.hash });
});

test.each([
  [{}, null],
  [{ occurred_at: '2026-10-01T02:00:00+02:00' }, '2026-10-01T00:00:00.000Z'],
  [{ occurred_at: '2026-10-01T00:00:00' }, '2026-10-01T00:00:00.000Z'],
  [{ occurred_at: 'yesterday' }, null],
  [{ occurred_at: 7 }, null],
])('what an entry says for people: happened %j', (more, occurredAt) => {
  const text = JSON.stringify({ ...first, ...more });
  const words = { occurredAt, actor: first['actor'], action: first['action'], corrected: null };
  expect(readEntry(text).words()).toEqual(words);
  expect(defaultContract.describeEntry(Buffer.from(text))).toEqual(words);
});

test('members that the schema does not know are part of what is hashed', () => {
  const more = readEntry(JSON.stringify({ ...first, added: 1 }));
  expect(more.content).toMatchObject({ state: 'computed' });
  expect(more.content).not.toMatchObject({ digest: first.hash });
});

test('openssl makes the same seal', () => {
  const args = ['dgst', '-sha256', '-hmac', SEAL_KEY];
  const made = execFileSync('openssl', args, { input: first.hash, encoding: 'utf8' }).trim().split(' ').at(-1);
  expect(defaultContract.sealOf(toHmacKey(Buffer.from(SEAL_KEY)), { digest: first.hash, digestText: first.hash })).toBe(
    made,
  );
  expect(first.seal).toBe(made);
});

const UNKEYED = { keyId: null, value: first.seal };
const SEALS: [string, Partial<Record<string, unknown>>, unknown][] = [
  ['no seal', { seal: undefined }, null],
  ['null', { seal: null }, null],
  ['a number', { seal: 7 }, 'malformed'],
  ['too long', { seal: `${first.seal}00` }, 'malformed'],
  ['no key id', { seal_key_id: undefined }, UNKEYED],
  ['a key id that is none', { seal_key_id: ['k1'] }, UNKEYED],
];

test.each(SEALS)('what is not quite a seal: %s', (_words, change, expected) => {
  expect(readEntry(JSON.stringify({ ...first, ...change })).seal).toEqual(expected);
});

test('an entry that is no object is of another contract', () => {
  for (const text of ['[]', 'null', '"x"', '1'])
    expect(thrownBy(() => readEntry(text))).toMatchObject({ code: 'contract' });
});

const SUMMARY = { package_id: 'p', stream_id: 's', entry_count: 3, head_hash: 'a'.repeat(64) };
const readSummary = (text: string) => defaultContract.readSummary(Buffer.from(text));

describe('a summary', () => {
  test('in our words', () => {
    expect(readSummary(JSON.stringify({ ...SUMMARY, more: 1 }))).toEqual({
      packageId: 'p',
      streamId: 's',
      entryCount: 3,
      headDigest: 'a'.repeat(64),
      actions: null,
      plain: [],
    });
    expect(readSummary(JSON.stringify({ ...SUMMARY, head_hash: null })).headDigest).toBeNull();
  });

  test.each([
    [
      'counts by name',
      '{"LOGIN":2,"__proto__":1}',
      [
        ['LOGIN', 2],
        ['__proto__', 1],
      ],
    ],
    ['a count as text', '{"LOGIN":"3"}', null],
    ['a negative count', '{"LOGIN":-3}', null],
    ['a list', '[3]', null],
  ])('whose actions are %s', (_what, sent, expected) => {
    const text = JSON.stringify({ ...SUMMARY, counts: { actions: 'HERE' } }).replace('"HERE"', sent);
    expect(readSummary(text).actions).toEqual(expected);
  });

  const text = JSON.stringify(SUMMARY);
  const cases: [string, string, string, RegExp][] = [
    ['nothing', '', 'unreadable', /not JSON/],
    ['a page', '<html>', 'unreadable', /not JSON/],
    ['a member twice', text.replace('{', '{"entry_count":4,'), 'unreadable', /ambiguous.*twice/],
    ['a list', `[${text}]`, 'contract', /the summary is no JSON object/],
    ['no package', JSON.stringify({ ...SUMMARY, package_id: undefined }), 'contract', /"package_id" of the summary/],
    ['a count as text', JSON.stringify({ ...SUMMARY, entry_count: '3' }), 'contract', /"entry_count" of the summary/],
    [
      'a head that is no digest',
      JSON.stringify({ ...SUMMARY, head_hash: 'x' }),
      'contract',
      /"head_hash" of the summary/,
    ],
  ];
  test.each(cases)('%s', (_words, sent, code, message) => {
    expect(thrownBy(() => readSummary(sent))).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('of more values than anybody counts is not parsed', () => {
    const text = JSON.stringify({ ...SUMMARY, more: '@' });
    const many = `[${'[],'.repeat(130_000)}[]]`;
    expect(readSummary(text.replace('"@"', '[[],[]]'))).toMatchObject({ packageId: 'p' });
    expect(thrownBy(() => readSummary(text.replace('"@"', many)))).toMatchObject({
      code: 'unreadable',
      message: 'the summary holds more than 250000 values',
    });
  });
});

test('the wire schemas take what an honest service sends', () => {
  expect(entrySchema.safeParse({ ...first, recorded_by: 'platform' }).success).toBe(true);
  expect(entrySchema.safeParse(first).success).toBe(false);
  expect(summarySchema.safeParse(SUMMARY).success).toBe(false);
});

import { describe, expect, test } from 'vitest';
import { PackageReader } from '../../src/verifier/chain/package.ts';
import type { Description } from '../../src/verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../src/verifier/reading/reading.ts';
import { chainOf, examineReading, KEYS, packageOf, STREAM } from '../support/chain.ts';

/** Contracts that read other statements in a form than people and other programs see. */

const TRUE = chainOf(20);
const FALSE = chainOf(20, { actor: 'mallory' });
const HEAD = TRUE.at(-1)?.hash;
const SUMMARY = {
  package_id: 'pkg-1',
  stream_id: STREAM,
  entry_count: 20,
  head_hash: HEAD,
  counts: { actions: {}, total: 20 },
};

interface Forms {
  contract?: { package?: object; summary?: object };
  package?: object;
  summary?: object;
}

function judge({ contract = {}, package: more = {}, summary = {} }: Forms) {
  const described = {
    ...DEFAULT_DESCRIPTION,
    package: { ...DEFAULT_DESCRIPTION.package, ...contract.package },
    summary: { ...DEFAULT_DESCRIPTION.summary, ...contract.summary },
  } as Description;
  const opened = openContract(described);
  const reader = new PackageReader(opened, KEYS);
  reader.push(Buffer.from(JSON.stringify({ ...packageOf(TRUE), ...more })));
  const read = opened.readSummary(Buffer.from(JSON.stringify({ ...SUMMARY, ...summary })));
  const { claims, findings } = examineReading(reader.finish(), [], { contract: opened, summary: read });
  return { state: claims.agreement.state, reason: claims.agreement.reason, codes: findings.map(({ code }) => code) };
}

const REAL = { package: { entries: 'real' } };
const FIELDS = DEFAULT_DESCRIPTION.package.fields;

const DECOYS: Record<string, Forms & { says: RegExp; codes?: string[] }> = {
  'entries elsewhere, and another chain where they usually are': {
    contract: REAL,
    package: { real: TRUE, entries: FALSE },
    says: /"entries"/,
    codes: ['agreement/other-entries'],
  },
  'the same, in objects of other names': {
    contract: REAL,
    package: { real: TRUE, entries: [{ number: 1, text: 'nothing happened' }] },
    says: /"entries"/,
    codes: ['agreement/other-entries'],
  },
  'a second chain beside the entries': {
    package: { log: FALSE },
    says: /"log"/,
    codes: ['agreement/other-entries'],
  },
  'a second chain within a member': {
    package: { data: { records: FALSE } },
    says: /"data.records"/,
    codes: ['agreement/other-entries'],
  },
  'a second chain three levels deep': {
    package: { data: { more: { records: FALSE } } },
    says: /"data.more.records"/,
    codes: ['agreement/other-entries'],
  },
  'a second chain in an object of a list': {
    package: { pages: [{ records: FALSE }] },
    says: /"pages\[\].records"/,
    codes: ['agreement/other-entries'],
  },
  'a count of the summary that is read elsewhere': {
    contract: { summary: { entry_count: 'counts.total' } },
    summary: { entry_count: 999 },
    says: /the summary has "entry_count": 999/,
  },
  'a count of the summary that is not read': {
    contract: { summary: { entry_count: null } },
    summary: { entry_count: 999 },
    says: /"entry_count": 999/,
  },
  'a head of the summary that is read elsewhere': {
    contract: { summary: { head_digest: 'counts.head' } },
    summary: { counts: { actions: {}, head: HEAD }, head_hash: 'ab'.repeat(32) },
    says: /"head_hash": abab/,
  },
  'a count of the package that is read elsewhere': {
    contract: { package: { fields: { ...FIELDS, entry_count: 'n' } } },
    package: { n: 20, entry_count: 999 },
    says: /the JSON form has "entry_count": 999/,
  },
};

describe('agreement is not proved by', () => {
  test.each(Object.entries(DECOYS))('%s', (_words, { says, codes = [], ...forms }) => {
    expect(judge(forms)).toEqual({ state: 'unproved', reason: expect.stringMatching(says), codes });
  });
});

const HONEST: Record<string, Forms> = {
  'everything in its place': {},
  'entries elsewhere, and nothing in their place': { contract: REAL, package: { real: TRUE, entries: undefined } },
  'the number of entries where they usually are': { contract: REAL, package: { real: TRUE, entries: 20 } },
  'checkpoints and other lists': { package: { attachments: [{ name: 'a', hash: HEAD }], tags: ['a'] } },
  'the same count in two places': { contract: { summary: { entry_count: 'counts.total' } } },
};

describe('agreement is proved by', () => {
  test.each(Object.entries(HONEST))('%s', (_words, forms) => {
    expect(judge(forms)).toMatchObject({ state: 'proved', codes: [] });
  });
});

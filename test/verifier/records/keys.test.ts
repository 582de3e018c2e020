import { expect, test } from 'vitest';
import * as keys from '../../../src/verifier/records/keys.ts';

const SHA256 = 'ab'.repeat(32);
const AT = '2026-10-01T08:30:00.123Z';
const attempt = keys.attemptPrefix('r', new Date(AT));
const hold = keys.holdRecordKey('r', AT, 'hold');

/** Keys, each with the only reader that recognizes it, and its result. */
const KEYS: [key: string, read: Partial<Record<keyof typeof READERS, unknown>>][] = [
  [keys.ARCHIVE_KEY, {}],
  [keys.ledgerKey(1), { isLedgerKey: true, isCommon: true }],
  [keys.ledgerKey(99_999_999), { isLedgerKey: true, isCommon: true }],
  [keys.acceptanceKey('payments-1a2b3c4d', AT), { isCommon: true }],
  [keys.publicKeyKey(SHA256), { publicKeyIdOf: SHA256, isCommon: true }],
  [keys.runRecordKey('r'), { runIdOf: 'r' }],
  [keys.askedKey('r'), { runIdOf: 'r' }],
  [keys.runDraftKey('r'), { runIdOf: 'r' }],
  [keys.runEnvelopeKey('r'), { runIdOf: 'r' }],
  [keys.stampKey('r', 1), { runIdOf: 'r' }],
  [keys.stampKey('r', 2), { runIdOf: 'r' }],
  ...['report.pdf', 'report.html', 'index.csv', 'assessment-results.json'].map((name): [string, object] => [
    keys.documentKey('r', name),
    { runIdOf: 'r', isDocumentKey: true },
  ]),
  ...['s.zip', 's.PARTIAL.zip', 's.zip.age', 's.PARTIAL.zip.age'].map((name): [string, object] => [
    keys.bundleKey('r', name),
    { runIdOf: 'r', streamSlugOf: 's' },
  ]),
  [keys.streamRecordKey('r', 's'), { runIdOf: 'r', streamSlugOf: 's' }],
  [keys.streamRecordKey('r', 'a.zip-1a2b3c4d'), { runIdOf: 'r', streamSlugOf: 'a.zip-1a2b3c4d' }],
  [keys.encryptedBundleKey('r', SHA256), { runIdOf: 'r', isEncryptedBundleKey: true }],
  [`${attempt}attempt.json`, { runIdOf: 'r', attemptFileOf: 'attempt.json' }],
  [`${attempt}deeper/attempt.json`, { runIdOf: 'r' }],
  [hold, { runIdOf: 'r', holdActionOf: 'hold' }],
  [keys.holdResultKey(hold), { runIdOf: 'r' }],
];

const READERS = {
  runIdOf: keys.runIdOf,
  isCommon: keys.isCommon,
  isDocumentKey: keys.isDocumentKey,
  isEncryptedBundleKey: keys.isEncryptedBundleKey,
  isLedgerKey: keys.isLedgerKey,
  attemptFileOf: keys.attemptFileOf,
  holdActionOf: keys.holdActionOf,
  publicKeyIdOf: keys.publicKeyIdOf,
  streamSlugOf: keys.streamSlugOf,
};

test.each(KEYS)('%s is read as what it was built of, and as nothing else', (key, read) => {
  const found = Object.entries(READERS).map(([name, reader]) => [name, reader(key)] as const);
  expect(Object.fromEntries(found.filter(([, what]) => what !== null && what !== false))).toEqual(read);
  // Another folder or ending makes another key.
  for (const other of [`x/${key}`, `${key}.x`, `${key}/x`]) {
    const { isCommon: _common, runIdOf: _run, attemptFileOf: _file, ...exact } = READERS;
    expect([other, Object.values(exact).filter((reader) => reader(other))]).toEqual([other, []]);
  }
});

test.each([
  ['s3://bucket/prefix/runs/2026-10', { root: 's3://bucket/prefix', runId: '2026-10' }],
  ['/a/runs/b/runs/c', { root: '/a/runs/b', runId: 'c' }],
  ['/a/runs', null],
  ['/a/runs/b/streams', null],
])('the address %s', (address, split) => {
  expect(keys.splitRunAddress(address)).toEqual(split);
});

import { describe, expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { appendEntry } from '../../../src/exporter/ledger/append.ts';
import { readKnownLedger } from '../../../src/exporter/ledger/continuation.ts';
import { readNewestEntry } from '../../../src/verifier/ledger/ledger.ts';
import { coverageOf } from '../../../src/verifier/records/coverage.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { type SigningKey, toPem } from '../../../src/verifier/signature/key.ts';
import { signedIn, signedOf, toEnvelope } from '../../support/envelope.ts';
import { runRecord } from '../../support/records.ts';
import {
  archiveOf,
  finalizeRun,
  ledgerEnd,
  newKey,
  problemsIn,
  tampered,
  verifyUnder,
} from '../../support/signed-archive.ts';

const [K1, K2, STRANGER] = [newKey(), newKey(), newKey()] as const;
const ENTRY = (number: number) => `ledger/0000000${number}.json`;
const ENVELOPE = (run: number) => `runs/run-${run}/run.dsse.json`;

describe('what is as it should be', () => {
  type Row = [string, (SigningKey | null)[], SigningKey[], string, string | RegExp];
  const rows: Row[] = [
    ['signed, under the key', [K1, K1], [K1], 'proved', ''],
    ['signed, no key given', [K1, K1], [], 'unproved', /no public key was given/],
    ['unsigned, no key given', [null, null], [], 'unproved', /nothing here is signed/],
    ['the key was changed, both given', [K1, K2, K2], [K1, K2], 'proved', ''],
    ['signed from the third run on', [null, null, K1], [K1], 'proved', ''],
    ['a key given that nothing is signed with, besides', [K1], [K1, K2], 'proved', ''],
  ];
  test.each(rows)('%s', async (_words, keys, given, state, reason) => {
    const report = await verifyUnder(await archiveOf(...keys), given);
    // Runs without streams have nothing to verify.
    expect([problemsIn(report), report.outcome]).toEqual([[], 'empty']);
    expect(report.signatures).toMatchObject({
      state,
      ...(reason === '' ? {} : { reason: expect.stringMatching(reason) }),
    });
    expect(report.runs.map(({ signed_by }) => signed_by)).toEqual(keys.map((key) => key?.id ?? null));
  });

  test('an archive that holds nothing yet is not found signed', async () => {
    const report = await verifyUnder(await archiveOf(), [K1]);
    expect(report.signatures).toMatchObject({
      state: 'unproved',
      reason: expect.stringMatching(/nothing to sign yet/),
    });
  });
});

type Changes = Parameters<typeof tampered>[1];
const replace = (from: string | RegExp, to: string) => (bytes: Buffer) => {
  const text = bytes.toString();
  expect(text).toMatch(from);
  return text.replace(from, to);
};
const withoutSignature = (bytes: Buffer) => {
  const { signature, ...entry } = JSON.parse(bytes.toString());
  expect(signature).toBeDefined();
  return toRecordBytes(entry);
};
/** Replaces an envelope's payload and keeps the signature. */
const withPayload =
  (change: (statement: { subject: { name: string }[]; predicate: object }) => object) => (bytes: Buffer) => {
    const envelope = JSON.parse(bytes.toString());
    const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString());
    return toRecordBytes({ ...envelope, payload: Buffer.from(toRecordBytes(change(statement))).toString('base64') });
  };
/** Replaces the payload and signs it with this key. */
const signedAnew = (key: SigningKey, change: Parameters<typeof withPayload>[0]) => (bytes: Buffer) =>
  toRecordBytes(toEnvelope(signedIn(JSON.parse(Buffer.from(withPayload(change)(bytes)).toString())), key));
const unchanged = (statement: object) => statement;

/** Changes to an archive of three runs signed with K1, with the expected findings under K1. */
const TAMPERED: [string, Changes, string[]][] = [
  ['an envelope removed', { [ENVELOPE(2)]: null }, [`object/missing ${ENVELOPE(2)}`]],
  [
    'a byte of its signature',
    { [ENVELOPE(2)]: replace(/"sig": "(.)/, '"sig": "_') },
    [`object/unreadable ${ENVELOPE(2)}`],
  ],
  [
    'another signature of the same form',
    { [ENVELOPE(2)]: replace(/"sig": "[^"]*"/, `"sig": "${'A'.repeat(86)}=="`) },
    [`signature/mismatch ${ENVELOPE(2)}`],
  ],
  [
    'white space in it',
    { [ENVELOPE(2)]: replace('\n  "payload"', '\n   "payload"') },
    [`object/unreadable ${ENVELOPE(2)}`],
  ],
  ['a byte after it', { [ENVELOPE(2)]: replace(/$/, ' ') }, [`object/unreadable ${ENVELOPE(2)}`]],
  ['its key id', { [ENVELOPE(2)]: replace(K1.id, STRANGER.id) }, [`signature/untrusted ${ENVELOPE(2)}`]],
  ['its key id, no more a digest', { [ENVELOPE(2)]: replace(K1.id, 'k1') }, [`object/unreadable ${ENVELOPE(2)}`]],
  [
    'its type',
    { [ENVELOPE(2)]: replace('vnd.in-toto+json', 'json') },
    [`signature/differs ${ENVELOPE(2)}`, `signature/mismatch ${ENVELOPE(2)}`],
  ],
  [
    'a subject removed',
    { [ENVELOPE(2)]: withPayload((statement) => ({ ...statement, subject: [] })) },
    [`signature/differs ${ENVELOPE(2)}`, `signature/mismatch ${ENVELOPE(2)}`],
  ],
  [
    'a subject removed, signed by a stranger',
    { [ENVELOPE(2)]: signedAnew(STRANGER, (statement) => ({ ...statement, subject: [] })) },
    [`signature/differs ${ENVELOPE(2)}`, `signature/untrusted ${ENVELOPE(2)}`],
  ],
  [
    'a subject removed, signed with the key itself',
    { [ENVELOPE(2)]: signedAnew(K1, (statement) => ({ ...statement, subject: [] })) },
    [`signature/differs ${ENVELOPE(2)}`],
  ],
  [
    'a subject added, signed with the key itself',
    {
      [ENVELOPE(2)]: signedAnew(K1, ({ subject, ...rest }) => ({
        ...rest,
        subject: [...subject, { name: 'runs/run-2/more', digest: { sha256: '0'.repeat(64) } }],
      })),
    },
    [`signature/differs ${ENVELOPE(2)}`],
  ],
  [
    'a subject changed, signed with the key itself',
    {
      [ENVELOPE(2)]: signedAnew(K1, ({ subject, ...rest }) => ({
        ...rest,
        subject: subject.map(({ name }) => ({ name, digest: { sha256: '0'.repeat(64) } })),
      })),
    },
    [`signature/differs ${ENVELOPE(2)}`],
  ],
  [
    'a predicate changed, signed with the key itself',
    {
      [ENVELOPE(2)]: signedAnew(K1, (statement) => ({
        ...statement,
        predicate: { ...statement.predicate, outcome: 'refuted' },
      })),
    },
    [`signature/differs ${ENVELOPE(2)}`],
  ],
  [
    'no statement, signed with the key itself',
    { [ENVELOPE(2)]: toRecordBytesText(toEnvelope(signedOf('text/plain', Buffer.from('hello')), K1)) },
    [`object/unreadable ${ENVELOPE(2)}`],
  ],
  ['signed by a stranger', { [ENVELOPE(2)]: signedAnew(STRANGER, unchanged) }, [`signature/untrusted ${ENVELOPE(2)}`]],
  [
    'the run record',
    { 'runs/run-2/run.json': replace('"user": "u"', '"user": "x"') },
    ['object/altered runs/run-2/run.json', `signature/differs ${ENVELOPE(2)}`],
  ],
  [
    'the run record, which now says that nothing is signed, and the envelope removed',
    { 'runs/run-2/run.json': replace('"signed": true', '"signed": false'), [ENVELOPE(2)]: null },
    ['object/altered runs/run-2/run.json'],
  ],
  [
    "a ledger entry's signature",
    { [ENTRY(3)]: replace(/"sig": "[^"]*"/, `"sig": "${'A'.repeat(86)}=="`) },
    [`signature/mismatch ${ENTRY(3)}`],
  ],
  [
    "an earlier ledger entry's signature, which the chain is over too",
    { [ENTRY(2)]: replace(/"sig": "[^"]*"/, `"sig": "${'A'.repeat(86)}=="`) },
    [`ledger/broken-link ${ENTRY(3)}`, `signature/mismatch ${ENTRY(2)}`],
  ],
  ["a ledger entry's key id", { [ENTRY(3)]: replace(K1.id, STRANGER.id) }, [`object/missing keys/${STRANGER.id}.pem`]],
  [
    'a ledger entry',
    { [ENTRY(3)]: replace(/"created_at": "2026/, '"created_at": "2027') },
    [`object/altered ${ENTRY(3)}`, `signature/mismatch ${ENTRY(3)}`],
  ],
  [
    'white space in a ledger entry',
    { [ENTRY(3)]: replace('\n  "number"', '\n   "number"') },
    [`object/altered ${ENTRY(3)}`],
  ],
  ['the last signature of the ledger removed', { [ENTRY(3)]: withoutSignature }, [`signature/missing ${ENTRY(3)}`]],
  [
    'an earlier signature of the ledger removed',
    { [ENTRY(2)]: withoutSignature },
    [`ledger/broken-link ${ENTRY(3)}`, `signature/missing ${ENTRY(2)}`],
  ],
  ['a public key exchanged', { [`keys/${K1.id}.pem`]: toPem(STRANGER) }, [`object/altered keys/${K1.id}.pem`]],
  ['a public key that is none', { [`keys/${K1.id}.pem`]: 'x' }, [`object/unreadable keys/${K1.id}.pem`]],
  ['the public key removed', { [`keys/${K1.id}.pem`]: null }, [`object/missing keys/${K1.id}.pem`]],
  ['something beside the keys', { 'keys/README': 'x' }, ['object/unexpected keys/README']],
];

function toRecordBytesText(value: unknown): string {
  return Buffer.from(toRecordBytes(value)).toString();
}

test('a public key that signed nothing is left by an interruption, or planted: it is named, and counts for nothing', async () => {
  const archive = await tampered(await archiveOf(K1, K1, K1), { [`keys/${STRANGER.id}.pem`]: toPem(STRANGER) });
  const report = await verifyUnder(archive, [K1]);
  expect([report.outcome, problemsIn(report), report.signatures.state]).toEqual(['empty', [], 'proved']);
  expect(report.warnings).toEqual([
    expect.stringContaining(`keys/${STRANGER.id}.pem is a key that signed nothing here`),
  ]);
});

describe('altered', async () => {
  const archive = await archiveOf(K1, K1, K1);
  test.each(TAMPERED)('%s', async (_words, changes, findings) => {
    const report = await verifyUnder(await tampered(archive, changes), [K1]);
    expect(problemsIn(report)).toEqual(findings);
    expect([report.outcome, report.exit_code]).toEqual(['refuted', 1]);
    expect(report.signatures.state === 'refuted').toBe(findings.some((finding) => finding.startsWith('signature/')));
    expect(report.signatures.state === 'proved').toBe(findings.every((finding) => /^object\/unexpected/.test(finding)));
  });

  // The archive's own keys prove nothing, but a signature that does not fit them shows a change.
  const withoutTrust = TAMPERED.filter(([, , findings]) =>
    findings.some((finding) => /mismatch|differs/.test(finding)),
  );
  test.each(withoutTrust)('seen without any key given: %s', async (_words, changes) => {
    const report = await verifyUnder(await tampered(archive, changes), []);
    expect([report.outcome, report.signatures.state]).toEqual(['refuted', 'refuted']);
  });

  test('the statement of another run in the place of this one', async () => {
    const other = Buffer.from(await archive.readBytes(ENVELOPE(1), 1e6)).toString();
    const report = await verifyUnder(await tampered(archive, { [ENVELOPE(2)]: () => other }), [K1]);
    expect(problemsIn(report)).toEqual([`signature/differs ${ENVELOPE(2)}`]);
    expect(report.signatures.findings[0]?.message).toBe('is not a statement about this run');
  });

  test.each<[string, Changes, string]>([
    ['a signature removed', { [ENTRY(3)]: withoutSignature }, `signature/missing ${ENTRY(3)}`],
    ['white space', { [ENTRY(3)]: replace('\n  "number"', '\n   "number"') }, `object/altered ${ENTRY(3)}`],
  ])('one run by itself is judged by the whole of the ledger: %s', async (_words, changes, finding) => {
    const report = await verifyUnder(await tampered(archive, changes), [K1], 'run-1');
    expect([report.outcome, problemsIn(report)]).toEqual(['refuted', [finding]]);
  });
});

/** Archives that an attacker rebuilt without the key. */
const REPLACED: [string, () => Promise<Archive>, string[]][] = [
  ['unsigned', () => archiveOf(null, null), [`signature/missing ${ENTRY(2)}`]],
  [
    'signed with a key of his own',
    () => archiveOf(STRANGER),
    [`signature/untrusted ${ENTRY(1)}`, `signature/untrusted ${ENVELOPE(1)}`],
  ],
  [
    'signed with a key of his own from a later run on',
    () => archiveOf(null, STRANGER),
    [`signature/untrusted ${ENTRY(2)}`, `signature/untrusted ${ENVELOPE(2)}`],
  ],
];
test.each(REPLACED)('all of it replaced: %s', async (_words, make, findings) => {
  const report = await verifyUnder(await make(), [K1]);
  expect([report.outcome, problemsIn(report), report.signatures.state]).toEqual(['refuted', findings, 'refuted']);
});

test('an unsigned run appended by hand to a signed ledger is refuted with and without a key', async () => {
  const archive = await archiveOf(K1);
  const record = runRecord('run-2', []);
  const bytes = toRecordBytes(record);
  const newest = await readNewestEntry(archive);
  const forged = await tampered(archive, {
    'runs/run-2/run.json': toRecordBytesText(record),
    [ENTRY(2)]: toRecordBytesText({
      format: 'evidence-ledger-entry/7',
      number: 2,
      previous_sha256: newest?.sha256,
      run_id: 'run-2',
      run_sha256: sha256(bytes),
      package_period: record.package_period,
      coverage: coverageOf(record),
      supersedes: [],
      spans: {},
      created_at: record.finished_at,
      audit_url: record.source.audit_url,
      heads: {},
    }),
  });
  for (const given of [[K1], []]) {
    const report = await verifyUnder(forged, given);
    expect([report.outcome, problemsIn(report)]).toEqual(['refuted', [`signature/missing ${ENTRY(2)}`]]);
  }
});

test('of two that complete the same run at once, one writes its entry', async () => {
  const archive = await archiveOf(K1);
  const record = runRecord('run-2', []);
  const subject = { kind: 'run' as const, record, sha256: sha256(toRecordBytes(record)) };
  const known = await ledgerEnd(archive);
  const trust = { signingKey: K1, publicKeys: [] };
  const states = await Promise.all([
    appendEntry(archive, subject, known, trust),
    appendEntry(archive, subject, known, trust),
  ]);
  expect(states.toSorted()).toEqual(['created', 'existing']);
  const changed = { signingKey: K2, publicKeys: [K1] };
  expect(await appendEntry(archive, subject, known, changed)).toBe('existing');
  expect(await appendEntry(archive, subject, await readKnownLedger(archive, changed), changed)).toBe('existing');
  await finalizeRun(archive, 'run-3', K2, {}, [K1]);
  expect((await readNewestEntry(archive))?.key).toBe(ENTRY(3));
});

import { describe, expect, test } from 'vitest';
import { isEvidenceError } from '../../src/core/errors.ts';
import type { Archive } from '../../src/exporter/archive/archive.ts';
import { readKnownLedger } from '../../src/exporter/ledger/continuation.ts';
import { foreseeHandOver, handOver } from '../../src/exporter/ledger/hand-over.ts';
import { deriveEntry } from '../../src/verifier/ledger/derive.ts';
import { readNewestEntry, signedPart } from '../../src/verifier/ledger/ledger.ts';
import { toRecordBytes } from '../../src/verifier/records/record-bytes.ts';
import { sign } from '../../src/verifier/signature/envelope.ts';
import { type SigningKey, toPem } from '../../src/verifier/signature/key.ts';
import type { ArchiveReport } from '../../src/verifier/verify/archive-report.ts';
import { signedIn, toEnvelope } from '../support/envelope.ts';
import { archiveOf, finalizeRun, newKey, problemsIn, tampered, verifyUnder } from '../support/signed-archive.ts';

/**
 * Signing keys that hand over to the next one: pinning either key gives the same verdict, and no other key gains trust.
 */
const [OLD, NEW, NEXT, STRANGER] = [newKey(), newKey(), newKey(), newKey()] as const;
const ENTRY = (number: number) => `ledger/0000000${number}.json`;
const ENVELOPE = (run: string) => `runs/${run}/run.dsse.json`;
const AT = new Date('2026-12-01T00:00:00Z');

function handOverBy(archive: Archive, key: SigningKey, successor: SigningKey) {
  return handOver(archive, successor, AT, { signingKey: key, publicKeys: [] });
}

/** Returns an archive with two runs signed by OLD, the handover, and a run signed by NEW. */
async function rotated(): Promise<Archive> {
  const archive = await archiveOf(OLD, OLD);
  await handOverBy(archive, OLD, NEW);
  await finalizeRun(archive, 'run-3', NEW);
  return archive;
}

const brief = (report: ArchiveReport) => [report.outcome, report.signatures.state, problemsIn(report)];
const SOUND = ['empty', 'proved', []];

describe('a key that handed over', () => {
  test.each<[string, SigningKey[]]>([
    ['the old key', [OLD]],
    ['the new key', [NEW]],
    ['both', [OLD, NEW]],
  ])('is followed by who pinned %s', async (_words, given) => {
    const archive = await rotated();
    for (const run of [undefined, 'run-1', 'run-3'])
      expect(brief(await verifyUnder(archive, given, run))).toEqual(SOUND);
  });

  test.each([
    ['the first', OLD],
    ['the middle one', NEW],
    ['the last', NEXT],
  ])('is followed over several hand-overs from %s', async (_words, pinned) => {
    const archive = await rotated();
    await handOverBy(archive, NEW, NEXT);
    expect(brief(await verifyUnder(archive, [pinned]))).toEqual(SOUND);
    await finalizeRun(archive, 'run-4', NEXT);
    expect(brief(await verifyUnder(archive, [pinned]))).toEqual(SOUND);
  });

  test('is followed before the new key signed anything else', async () => {
    const archive = await archiveOf(OLD);
    await handOverBy(archive, OLD, NEW);
    for (const pinned of [OLD, NEW]) expect(brief(await verifyUnder(archive, [pinned]))).toEqual(SOUND);
  });
});

/** Replaces the handover in the archive of `rotated` with one signed by these keys. */
const forge = async (
  archive: Archive,
  change: { signer: SigningKey; countersigner: SigningKey; to: SigningKey; keys?: SigningKey[] },
): Promise<Archive> => {
  const derived = deriveEntry(
    { kind: 'hand-over', to: change.to.id, at: AT.toISOString() },
    await readNewestEntry(archive),
  );
  const content = signedPart(derived);
  const signature = { ...sign(content, change.signer), keyid: OLD.id };
  const countersignature = { ...sign(content, change.countersigner), keyid: change.to.id };
  const keys = (change.keys ?? [change.to]).map((key) => [`keys/${key.id}.pem`, toPem(key)] as const);
  const next = ENTRY(derived.number);
  const bytes = Buffer.from(toRecordBytes({ ...derived, signature, countersignature })).toString();
  return tampered(archive, { [next]: bytes, ...Object.fromEntries(keys) });
};

describe('a hand-over that was forged', () => {
  test.each<[string, { signer: SigningKey; countersigner: SigningKey; to: SigningKey }, string]>([
    ['not signed by the old key', { signer: STRANGER, countersigner: STRANGER, to: STRANGER }, 'signature/mismatch'],
    ['not countersigned by the key that it names', { signer: OLD, countersigner: OLD, to: NEW }, 'signature/mismatch'],
  ])('%s, leads nowhere and is refuted', async (_words, change, code) => {
    const forged = await forge(await archiveOf(OLD, OLD), change);
    for (const given of [[OLD], [change.to], []]) {
      const report = await verifyUnder(forged, given);
      expect([report.outcome, report.signatures.state]).toEqual(['refuted', 'refuted']);
      const codes = given[0] === change.to ? [code, 'signature/untrusted'] : [code];
      expect(codes.map((one) => `${one} ${ENTRY(3)}`)).toContain(
        problemsIn(report).find((one) => one.endsWith(ENTRY(3))),
      );
    }
  });

  test.each<[string, (entry: Record<string, unknown>) => object]>([
    ['its countersignature removed', ({ countersignature: _gone, ...entry }) => entry],
    ['both signatures removed', ({ countersignature: _gone, signature: _too, ...entry }) => entry],
    [
      'its signatures exchanged',
      (entry) => ({ ...entry, signature: entry['countersignature'], countersignature: entry['signature'] }),
    ],
    ['another successor', (entry) => ({ ...entry, hands_over_to: STRANGER.id })],
    ['signed twice by the old key', (entry) => ({ ...entry, countersignature: entry['signature'] })],
  ])('%s', async (_words, change) => {
    const forged = await tampered(await rotated(), {
      [ENTRY(3)]: (bytes) => Buffer.from(toRecordBytes(change(JSON.parse(bytes.toString())))),
    });
    for (const pinned of [OLD, NEW]) expect((await verifyUnder(forged, [pinned])).outcome).toBe('refuted');
  });

  test('states another service: the exporter does not go on', async () => {
    const archive = await archiveOf(OLD);
    await finalizeRun(archive, 'run-2', OLD);
    await handOverBy(archive, OLD, NEW);
    const forged = await tampered(archive, {
      [ENTRY(3)]: (bytes) => bytes.toString().replace('"audit_url": "http', '"audit_url": "xttp'),
    });
    const ended = readKnownLedger(forged, { signingKey: NEW, publicKeys: [] });
    await expect(ended).rejects.toSatisfy((error) => isEvidenceError(error, 'unreadable'));
    expect((await verifyUnder(forged, [NEW])).outcome).toBe('refuted');
  });
});

describe('the old key, stolen after it handed over', () => {
  test('signs nothing more: neither reader believes a later entry', async () => {
    const archive = await rotated();
    const newest = await readNewestEntry(archive);
    const derived = deriveEntry({ kind: 'hand-over', to: STRANGER.id, at: AT.toISOString() }, newest);
    const content = signedPart(derived);
    const entry = { ...derived, signature: sign(content, OLD), countersignature: sign(content, STRANGER) };
    const forged = await tampered(archive, {
      [ENTRY(5)]: Buffer.from(toRecordBytes(entry)).toString(),
      [`keys/${STRANGER.id}.pem`]: toPem(STRANGER),
    });
    for (const given of [[OLD], [NEW], [OLD, NEW]]) {
      const report = await verifyUnder(forged, given);
      expect(problemsIn(report)).toEqual([`signature/untrusted ${ENTRY(5)}`]);
      expect(report.outcome).toBe('refuted');
    }
    for (const trust of [
      { signingKey: NEW, publicKeys: [OLD] },
      { signingKey: NEW, publicKeys: [] },
    ])
      await expect(readKnownLedger(forged, trust)).rejects.toSatisfy((error) => isEvidenceError(error, 'unreadable'));
  });

  test('does not rewrite an earlier run for who pinned the new key', async () => {
    const forged = await archiveOf(OLD);
    await finalizeRun(forged, 'run-2', OLD, { warnings: [{ code: 'replaces', message: 'rewritten' }] });
    const { archive: genuine, entries } = { archive: await rotated(), entries: [3, 4].map(ENTRY) };
    const kept = await Promise.all(
      entries.map(async (key) => [key, Buffer.from(await genuine.readBytes(key, 1e6)).toString()]),
    );
    const report = await verifyUnder(await tampered(forged, Object.fromEntries(kept)), [NEW]);
    expect(report.outcome).toBe('refuted');
    expect(problemsIn(report)).toContain(`ledger/broken-link ${ENTRY(3)}`);
  });

  test('the new key, stolen, does not rewrite an earlier run for who pinned the old one', async () => {
    const archive = await archiveOf(NEW, NEW);
    const report = await verifyUnder(archive, [OLD]);
    expect([report.outcome, report.signatures.state]).toEqual(['refuted', 'refuted']);
  });

  test('another export ends where the key handed over meanwhile', async () => {
    const archive = await rotated();
    const ended = readKnownLedger(archive, { signingKey: OLD, publicKeys: [NEW] });
    await expect(ended).rejects.toMatchObject({ code: 'usage', nextStep: expect.stringContaining('sign.key_file') });
  });
});

describe('a key that nobody handed over to', () => {
  const FOLLOWED = () => archiveOf(OLD, STRANGER);
  test('leaves open what it alone signed, and nothing before', async () => {
    const report = await verifyUnder(await FOLLOWED(), [OLD]);
    expect(brief(report)).toEqual([
      'incomplete',
      'unproved',
      [`signature/unknown-key ${ENTRY(2)}`, `signature/unknown-key ${ENVELOPE('run-2')}`],
    ]);
    expect(report.exit_code).toBe(3);
    expect(brief(await verifyUnder(await FOLLOWED(), [OLD], 'run-1'))).toEqual(SOUND);
    expect((await verifyUnder(await FOLLOWED(), [OLD], 'run-2')).exit_code).toBe(3);
  });

  test('is vouched for by a later entry of a key that is trusted', async () => {
    expect(brief(await verifyUnder(await archiveOf(OLD, NEW), [NEW]))).toEqual(SOUND);
  });

  test.each<[string, (bytes: Buffer) => Uint8Array | string]>([
    ['its signature altered', (bytes) => bytes.toString().replace(/"sig": "[^"]*"/, `"sig": "${'A'.repeat(86)}=="`)],
    ['not signed at all', (bytes) => toRecordBytes(without(JSON.parse(bytes.toString())))],
  ])('refutes where its entry is wrong: %s', async (_words, change) => {
    const report = await verifyUnder(await tampered(await FOLLOWED(), { [ENTRY(2)]: change }), [OLD]);
    expect(report.outcome).toBe('refuted');
  });

  test('refutes where it signed the statement of a run that is vouched for', async () => {
    const archive = await tampered(await archiveOf(OLD, STRANGER), {
      [ENVELOPE('run-1')]: (bytes) => {
        return toRecordBytes(toEnvelope(signedIn(JSON.parse(bytes.toString())), STRANGER));
      },
    });
    const report = await verifyUnder(archive, [OLD], 'run-1');
    expect([report.outcome, problemsIn(report)]).toEqual(['refuted', [`signature/untrusted ${ENVELOPE('run-1')}`]]);
  });
});

function without({ signature: _signature, ...entry }: Record<string, unknown>): object {
  return entry;
}

describe('what cannot be handed over', () => {
  test.each<[string, (SigningKey | null)[], SigningKey | null, SigningKey, RegExp]>([
    ['no key', [OLD], null, NEW, /no signing key is given/],
    ['to itself', [OLD], OLD, OLD, /cannot hand over to itself/],
    ['a ledger that is empty', [], OLD, NEW, /is not signed/],
  ])('%s', async (_words, keys, key, to, message) => {
    const ended = foreseeHandOver(await archiveOf(...keys), to, AT, { signingKey: key, publicKeys: [] });
    await expect(ended).rejects.toThrow(message);
  });

  test('back to a key that handed over, and twice', async () => {
    const archive = await rotated();
    await expect(handOverBy(archive, NEW, OLD)).rejects.toThrow(/cannot sign again/);
    await expect(handOverBy(archive, OLD, NEXT)).rejects.toThrow(/can no longer sign/);
  });
});

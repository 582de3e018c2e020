import { generateKeyPairSync } from 'node:crypto';
import { sha256 } from '../../src/core/digest.ts';
import type { Archive } from '../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../src/exporter/archive/memory.ts';
import { appendEntry } from '../../src/exporter/ledger/append.ts';
import { keepService } from '../../src/exporter/ledger/service.ts';
import { readSigningKey } from '../../src/exporter/ledger/signing-key.ts';
import { keepPublicKey, putBytes } from '../../src/exporter/records/put-record.ts';
import type { LedgerEnd } from '../../src/verifier/ledger/end.ts';
import { readNewestEntry } from '../../src/verifier/ledger/ledger.ts';
import { ARCHIVE_KEY, runEnvelopeKey, runRecordKey } from '../../src/verifier/records/keys.ts';
import type { RunRecord } from '../../src/verifier/records/record.ts';
import { toRecordBytes } from '../../src/verifier/records/record-bytes.ts';
import { envelopePieces, toStatement } from '../../src/verifier/records/statement.ts';
import { sign } from '../../src/verifier/signature/envelope.ts';
import type { SigningKey } from '../../src/verifier/signature/key.ts';
import { verifyArchive } from '../../src/verifier/verify/archive.ts';
import type { ArchiveReport } from '../../src/verifier/verify/archive-report.ts';
import { runRecord } from './records.ts';

export function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return readSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), null, 'k');
}

/**
 * Finalizes a run, without streams by default, then signs and records it as an export would.
 * @param earlier keys that signed the ledger before.
 */
export async function finalizeRun(
  archive: Archive,
  runId: string,
  key: SigningKey | null,
  more: Partial<RunRecord> = {},
  earlier: readonly SigningKey[] = [],
): Promise<void> {
  const record = runRecord(runId, [...(more.streams ?? [])], { ...more, signed: key !== null });
  if ((await archive.stat(ARCHIVE_KEY)) === null) await keepService(archive, record.source.audit_url, null);
  const bytes = toRecordBytes(record);
  const digest = sha256(bytes);
  await archive.put(runRecordKey(runId), { bytes }, { sha256: digest, bytes: bytes.length });
  if (key !== null) {
    await keepPublicKey(archive, key);
    const statement = toStatement(record, digest);
    const envelope = [...envelopePieces(statement, sign(statement, key))].join('');
    await putBytes(archive, runEnvelopeKey(runId), Buffer.from(envelope));
  }
  const trust = { signingKey: key, publicKeys: earlier };
  await appendEntry(archive, { kind: 'run', record, sha256: digest }, await ledgerEnd(archive), trust);
}

/** Returns the end of the ledger, valid or not. */
export async function ledgerEnd(archive: Archive): Promise<LedgerEnd> {
  return { newest: await readNewestEntry(archive), runs: new Map(), retired: new Set(), abandoned: new Set() };
}

/** Creates an archive with a run for each key, in this order. */
export async function archiveOf(...keys: (SigningKey | null)[]): Promise<Archive> {
  const archive = openMemoryArchive();
  const earlier = keys.filter((key) => key !== null);
  for (const [index, key] of keys.entries()) await finalizeRun(archive, `run-${index + 1}`, key, {}, earlier);
  return archive;
}

/**
 * Changes the archive as an attacker with access to the store would: objects by key, null to remove, new keys to add.
 */
export async function tampered(
  archive: Archive,
  changes: Record<string, ((bytes: Buffer) => Uint8Array | string) | string | null>,
): Promise<Archive> {
  const copy = openMemoryArchive();
  const put = async (key: string, content: Uint8Array | string) => {
    const bytes = Buffer.from(content as string);
    await copy.put(key, { bytes }, { sha256: sha256(bytes), bytes: bytes.length });
  };
  const left = new Map(Object.entries(changes));
  for await (const { key } of archive.list('')) {
    const bytes = Buffer.from(await archive.readBytes(key, 1e6));
    const change = left.get(key);
    left.delete(key);
    if (change !== null) await put(key, typeof change === 'function' ? change(bytes) : (change ?? bytes));
  }
  for (const [key, content] of left) {
    if (typeof content !== 'string') throw new Error(`there is no ${key} to change`);
    await put(key, content);
  }
  return copy;
}

export function verifyUnder(archive: Archive, publicKeys: readonly SigningKey[], run?: string): Promise<ArchiveReport> {
  const trust = { sealKeys: new Map(), roots: null, stampRoots: null, publicKeys };
  const context = { archive, contract: null, ...trust, now: new Date(), workDirectory: '/nowhere' };
  return verifyArchive(context, run ?? null);
}

/** Returns code and key of every finding, without duplicates. */
export function problemsIn({ runs, ledger, signatures, objects }: ArchiveReport): string[] {
  const { missing, altered, unexpected } = objects;
  const lists = [
    ledger.findings,
    signatures.findings,
    missing,
    altered,
    unexpected,
    ...runs.map((run) => run.findings),
  ];
  return [...new Set(lists.flat().map(({ code, key }) => `${code} ${key}`))].sort();
}

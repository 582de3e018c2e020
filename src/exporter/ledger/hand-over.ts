import { EvidenceError } from '../../core/errors.ts';
import type { SigningKey } from '../../verifier/signature/key.ts';
import type { Archive } from '../archive/archive.ts';
import { appendEntry, nextKey } from './append.ts';
import { type KnownLedger, readKnownLedger } from './continuation.ts';
import type { LedgerTrust } from './trust.ts';

export interface HandOver {
  /** Key ids. */
  from: string;
  to: string;
  handed_over_at: string;
}

/**
 * Records that another key signs from now on. Both keys sign the entry, so a reader who has either one can follow it to
 * the other.
 *
 * @throws EvidenceError `usage` if nothing can be handed over, or if the successor was itself replaced earlier; as
 * `readKnownLedger` and `appendEntry` do.
 */
export async function handOver(
  archive: Archive,
  successor: SigningKey,
  at: Date,
  trust: LedgerTrust,
): Promise<HandOver> {
  const { ledger, record } = await derive(archive, successor, at, trust);
  const subject = { kind: 'hand-over' as const, to: record.to, at: record.handed_over_at };
  await appendEntry(archive, subject, ledger, trust, successor);
  return record;
}

/**
 * Returns the record that `handOver` would make and the key of its ledger entry. Writes nothing.
 * @throws EvidenceError as `handOver` does if the key cannot be handed over.
 */
export async function foreseeHandOver(
  archive: Archive,
  successor: SigningKey,
  at: Date,
  trust: LedgerTrust,
): Promise<{ hand_over: HandOver; ledger_key: string }> {
  const { ledger, record } = await derive(archive, successor, at, trust);
  return { hand_over: record, ledger_key: nextKey(ledger.newest) };
}

async function derive(
  archive: Archive,
  { id: to }: SigningKey,
  at: Date,
  trust: LedgerTrust,
): Promise<{ ledger: KnownLedger; record: HandOver }> {
  const { signingKey } = trust;
  if (signingKey === null)
    throw new EvidenceError('usage', 'no signing key is given to hand over from', {
      nextStep: 'Name the current key in sign.key_file, and the new one with --to.',
    });
  if (signingKey.id === to)
    throw new EvidenceError('usage', `the key ${to} cannot hand over to itself`, {
      nextStep: 'Make a new key with: evidence keygen --out FILE.',
    });
  const ledger = await readKnownLedger(archive, trust);
  if (ledger.newest?.entry.signature === undefined)
    throw new EvidenceError('usage', 'the ledger of this archive is not signed, so no hand-over is needed', {
      nextStep: 'Name the new key in sign.key_file.',
    });
  if (ledger.retired.has(to))
    throw new EvidenceError('usage', `the key ${to} has already handed over to another key and cannot sign again`, {
      nextStep: 'Make a new key with: evidence keygen --out FILE.',
    });
  return { ledger, record: { from: signingKey.id, to, handed_over_at: at.toISOString() } };
}

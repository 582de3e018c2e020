import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../../verifier/archive/archive.ts';
import type { StoredLedgerEntry } from '../../verifier/ledger/ledger.ts';
import { archiveBytes, readStatedService } from '../../verifier/ledger/service.ts';
import { ARCHIVE_KEY } from '../../verifier/records/keys.ts';
import type { Archive } from '../archive/archive.ts';
import { putBytes } from '../records/put-record.ts';
import { verifyCommand } from './verify-command.ts';

/** Service that an export wants to add to an archive. */
interface ServiceQuestion {
  auditUrl: string;
  /** True if the operator states that the archive's service has moved to this address. */
  isMoved: boolean;
}

/**
 * Throws if the evidence comes from another service than the archive's.
 * @param held see `readArchiveService`.
 * @param newest entry of the ledger.
 * @returns the address that the service moved from; null if it did not move.
 * @throws EvidenceError `config`; `usage` if a move is stated and there was none.
 */
export function requireService(
  held: string | null,
  newest: StoredLedgerEntry | null,
  { auditUrl, isMoved }: ServiceQuestion,
): string | null {
  if (isMoved && (held === null || held === auditUrl))
    throw new EvidenceError(
      'usage',
      `--service-moved is given, but this archive ${held === null ? 'is still empty' : `already belongs to ${held}`}`,
      { nextStep: 'Run the same command without it; the flag is needed only once.' },
    );
  if (held === null || held === auditUrl) return null;
  if (isMoved && newest !== null) return held;
  throw otherService(held, auditUrl, { canMove: newest !== null });
}

function otherService(held: string, asked: string, { canMove }: { canMove: boolean }): EvidenceError {
  const moved = canMove ? `; if the service moved to this address, add --service-moved once` : '';
  return new EvidenceError('config', `this archive belongs to ${held}, not ${asked}; an archive contains one service`, {
    nextStep: `Nothing was written. Name another archive with --archive${moved}.`,
  });
}

/**
 * Records which service an archive belongs to, before its first run.
 * @param newest entry of the ledger. If it names the service, nothing is written.
 * @throws EvidenceError `config` if an export of another service was first.
 */
export async function keepService(archive: Archive, auditUrl: string, newest: StoredLedgerEntry | null): Promise<void> {
  if ((newest?.entry.audit_url ?? null) !== null) return;
  try {
    await putBytes(archive, ARCHIVE_KEY, archiveBytes(auditUrl));
  } catch (error) {
    const held = isEvidenceError(error, 'conflict') ? await readArchiveService(archive, null) : null;
    throw held === null ? error : otherService(held, auditUrl, { canMove: false });
  }
}

/**
 * Returns the service whose evidence an archive holds now; null for an archive without evidence.
 * @param newest newest entry of its ledger.
 * @throws EvidenceError `unreadable` if the archive no longer states it.
 */
export async function readArchiveService(
  archive: ReadableArchive,
  newest: StoredLedgerEntry | null,
): Promise<string | null> {
  const isThere = (await archive.stat(ARCHIVE_KEY)) !== null;
  // Before the first run, an entry that gives up a run states no service.
  if (!isThere && (newest?.entry.audit_url ?? null) === null) return null;
  if (!isThere)
    throw new EvidenceError('unreadable', `${ARCHIVE_KEY} is missing, which every archive with a run has`, {
      nextStep: `Nothing was exported. Check the archive: ${verifyCommand(archive)}.`,
    });
  const { auditUrl } = await readStatedService(archive);
  return newest?.entry.audit_url ?? auditUrl;
}

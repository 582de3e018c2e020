import { EvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Archive } from '../archive/archive.ts';
import { acceptanceKey } from '../records/keys.ts';
import { putRecord } from '../records/put-record.ts';
import { ACCEPTANCE, type Acceptance } from '../records/record.ts';
import { appendEntry, nextKey } from './append.ts';
import { type KnownLedger, readKnownLedger } from './continuation.ts';
import type { LedgerTrust } from './trust.ts';

export interface AcceptanceWish {
  streamId: string;
  /** The part of the record's name that stands for the stream. */
  slug: string;
  reason: string;
  acceptedBy: Acceptance['accepted_by'];
  acceptedAt: Date;
}

/**
 * Records why a stream was ended or began anew. Its head leaves the ledger's heads, so the next export takes it as a
 * stream without a past; this record stays and is shown in every later run.
 *
 * @throws EvidenceError `not-found` when the ledger knows no head of the stream; as `readKnownLedger` and
 * `appendEntry` do.
 */
export async function acceptRestart(archive: Archive, wish: AcceptanceWish, trust: LedgerTrust): Promise<Acceptance> {
  const { ledger, record } = await derive(archive, wish, trust);
  const key = acceptanceKey(wish.slug, record.accepted_at);
  const { sha256 } = await putRecord(archive, key, ACCEPTANCE, record);
  await appendEntry(archive, { kind: 'acceptance', record, key, sha256 }, ledger, trust);
  return record;
}

/**
 * The record that `acceptRestart` would make, and the ledger entry that would name it. Nothing is written.
 * @throws EvidenceError as `acceptRestart` does for what cannot be accepted.
 */
export async function foreseeRestart(
  archive: Archive,
  wish: AcceptanceWish,
  trust: LedgerTrust,
): Promise<{ acceptance: Acceptance; ledger_key: string }> {
  const { ledger, record } = await derive(archive, wish, trust);
  return { acceptance: record, ledger_key: nextKey(ledger.newest) };
}

async function derive(
  archive: Archive,
  wish: AcceptanceWish,
  trust: LedgerTrust,
): Promise<{ ledger: KnownLedger; record: Acceptance }> {
  const ledger = await readKnownLedger(archive, trust);
  const heads = new Map(Object.entries(ledger.newest?.entry.heads ?? {}));
  const head = heads.get(wish.streamId);
  if (head === undefined) throw withoutHead(wish.streamId, ledger.acceptances);
  const record: Acceptance = {
    format: FORMATS.acceptance,
    stream_id: wish.streamId,
    reason: wish.reason,
    accepted_by: wish.acceptedBy,
    accepted_at: wish.acceptedAt.toISOString(),
    head,
  };
  return { ledger, record };
}

function withoutHead(streamId: string, acceptances: readonly Acceptance[]): EvidenceError {
  const before = acceptances.findLast(({ stream_id }) => stream_id === streamId);
  if (before === undefined)
    return new EvidenceError('not-found', `the ledger knows no head of a stream "${streamId}"`, {
      nextStep: 'Nothing needs to be accepted; check the name with: evidence streams.',
    });
  const { accepted_at, accepted_by, reason } = before;
  return new EvidenceError(
    'usage',
    `a restart or an end of "${streamId}" was accepted at ${accepted_at} by ${accepted_by.user} already, and nothing was exported of it since: ${reason}`,
    { nextStep: 'Nothing needs to be done: the next export takes it as a stream without a past.' },
  );
}

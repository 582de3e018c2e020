import { EvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { acceptableIn, hasStream } from '../../verifier/ledger/contradiction.ts';
import type { AcceptedFinding } from '../../verifier/records/contradiction.ts';
import { acceptanceKey, runRecordKey } from '../../verifier/records/keys.ts';
import { ACCEPTANCE, type Acceptance } from '../../verifier/records/record.ts';
import { readRunRecord } from '../../verifier/records/stored-run.ts';
import type { Archive } from '../archive/archive.ts';
import { putRecord } from '../records/put-record.ts';
import { appendEntry, nextKey } from './append.ts';
import { type KnownLedger, readKnownLedger } from './continuation.ts';
import type { LedgerTrust } from './trust.ts';
import { verifyCommand } from './verify-command.ts';

interface AcceptanceOptions {
  streamId: string;
  /** Slug of the stream in the record's key. */
  slug: string;
  reason: string;
  acceptedBy: Acceptance['accepted_by'];
  acceptedAt: Date;
}

/**
 * Records why a stream was ended or restarted. The acceptance covers only the contradiction that the newest run with
 * the stream found; later runs are compared with that run. The record is permanent, and every later run shows it.
 *
 * @throws EvidenceError `not-found` if the ledger has no head of the stream; `usage` if there is no contradiction to
 * accept; as `readKnownLedger` and `appendEntry` do.
 */
export async function acceptRestart(
  archive: Archive,
  options: AcceptanceOptions,
  trust: LedgerTrust,
): Promise<Acceptance> {
  const { ledger, record } = await derive(archive, options, trust);
  const key = acceptanceKey(options.slug, record.accepted_at);
  const { sha256 } = await putRecord(archive, key, ACCEPTANCE, record);
  await appendEntry(archive, { kind: 'acceptance', record, key, sha256 }, ledger, trust);
  return record;
}

/**
 * Returns the record that `acceptRestart` would make and the key of its ledger entry. Writes nothing.
 * @throws EvidenceError as `acceptRestart` does if the restart cannot be accepted.
 */
export async function foreseeRestart(
  archive: Archive,
  options: AcceptanceOptions,
  trust: LedgerTrust,
): Promise<{ acceptance: Acceptance; ledger_key: string }> {
  const { ledger, record } = await derive(archive, options, trust);
  return { acceptance: record, ledger_key: nextKey(ledger.newest) };
}

async function derive(
  archive: Archive,
  options: AcceptanceOptions,
  trust: LedgerTrust,
): Promise<{ ledger: KnownLedger; record: Acceptance }> {
  const ledger = await readKnownLedger(archive, trust);
  const head = ledger.newest?.entry.heads.get(options.streamId);
  if (head === undefined) throw withoutHead(options.streamId, ledger.acceptances);
  const contradiction = await findContradiction(archive, ledger, options.streamId);
  const before = ledger.acceptances.findLast(({ stream_id }) => stream_id === options.streamId);
  if (before !== undefined && before.contradiction.run_id === contradiction.run_id) throw acceptedBefore(before);
  const record: Acceptance = {
    format: FORMATS.acceptance,
    stream_id: options.streamId,
    reason: options.reason,
    accepted_by: options.acceptedBy,
    accepted_at: options.acceptedAt.toISOString(),
    head,
    contradiction,
  };
  return { ledger, record };
}

function withoutHead(streamId: string, acceptances: readonly Acceptance[]): EvidenceError {
  const before = acceptances.findLast(({ stream_id }) => stream_id === streamId);
  if (before === undefined)
    return new EvidenceError('not-found', `the ledger has no head of a stream "${streamId}"`, {
      nextStep: 'Check the name with: evidence streams. Nothing needs to be accepted.',
    });
  return acceptedBefore(before);
}

function acceptedBefore({ stream_id, accepted_at, accepted_by, reason }: Acceptance): EvidenceError {
  return new EvidenceError(
    'usage',
    `a restart or end of "${stream_id}" was already accepted at ${accepted_at} by ${accepted_by.user}, and the stream has not been exported since: ${reason}`,
    { nextStep: 'Nothing needs to be done; the next export is not compared with earlier ones.' },
  );
}

/** Finds the contradiction with earlier runs that the newest run of the stream recorded. */
async function findContradiction(archive: Archive, ledger: KnownLedger, streamId: string): Promise<AcceptedFinding> {
  for (const [runId, expected] of [...ledger.runs].reverse()) {
    const key = runRecordKey(runId);
    const { record, sha256 } = await readRunRecord(archive, key);
    if (sha256 !== expected)
      throw new EvidenceError('unreadable', `${key} is not the record that the ledger names`, {
        nextStep: `Nothing was written. Check the archive: ${verifyCommand(archive)}.`,
      });
    if (!hasStream(record, streamId)) continue;
    const contradiction = acceptableIn(record, streamId);
    if (contradiction === undefined) throw withoutOrder(streamId, runId);
    if (contradiction === null) break;
    return contradiction;
  }
  throw new EvidenceError('usage', `no contradiction of "${streamId}" is recorded, so there is nothing to accept`, {
    nextStep:
      'Nothing was written. Export first; if the run refutes the stream (exit code 1), accept that once it is explained.',
  });
}

function withoutOrder(streamId: string, runId: string): EvidenceError {
  return new EvidenceError(
    'usage',
    `run ${runId} contradicts earlier exports of "${streamId}" but did not read it in order, so later runs could not be compared with it`,
    { nextStep: 'Nothing was written. Export the stream again, and accept the finding of that run.' },
  );
}

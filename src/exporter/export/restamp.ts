import { sha256 } from '../../core/digest.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Operator } from '../../verifier/claims/schemas.ts';
import { RESTAMPING, type Restamping, restampingKey } from '../../verifier/records/hold-log.ts';
import { judgeStamps, readStamps, type Stamps, type StampVerdict } from '../../verifier/records/stamps.ts';
import { readFinalizedRun } from '../../verifier/records/stored-run.ts';
import type { Archive } from '../archive/archive.ts';
import { lockAsRun, putBesideRun } from '../records/put-record.ts';
import { keepStamp, requestStamp, type Stamping } from './stamp.ts';

interface RestampContext {
  archive: Archive;
  stamping: Stamping;
  /** Limit for renewal: runs whose newest token depends on a certificate that expires earlier are stamped. */
  before: Date;
  now: Date;
  orderedBy: Operator;
  signal: AbortSignal;
}

export interface Restamped {
  run_id: string;
  /** `refuted`: existing tokens do not verify, and a new token would only hide that. */
  state: 'stamped' | 'due' | 'not-due' | 'failed' | 'refuted';
  /** End of the newest token's validity; null if no token is valid. */
  until: string | null;
  /** Reason of a failure or refutation, and the next step. */
  reason: string | null;
  next_step: string | null;
}

/** Run that needs a token, with its present tokens. */
interface Due {
  stamps: Stamps;
  newest: StampVerdict | undefined;
  finishedAt: Date;
}

/**
 * Adds a token to a finalized run that has none or whose newest token expires soon, and records who ordered it.
 *
 * @throws EvidenceError `not-found` if there is no such finalized run; as the archive does.
 */
export async function restampRun(context: RestampContext, runId: string): Promise<Restamped> {
  const { archive, stamping, now, signal } = context;
  const found = await examine(context, runId);
  if ('state' in found) return found;
  const { stamps, newest, finishedAt } = found;
  const until = newest?.until ?? null;
  try {
    const options = { notBefore: newest?.time ?? finishedAt, outlasting: until, now };
    const stamp = await requestStamp(stamps, stamping, options);
    const record: Restamping = {
      format: FORMATS.restamp,
      run_id: runId,
      ordered_by: context.orderedBy,
      ordered_at: now.toISOString(),
      timestamp_authority: stamping.authority.shown,
      token: { key: stamp.key, sha256: sha256(stamp.der) },
    };
    await putBesideRun(archive, restampingKey(record), RESTAMPING, record, now);
    await keepStamp(archive, stamp);
    await lockAsRun(archive, stamp.key, now);
    return answer(runId, 'stamped', stamp.verdict.until);
  } catch (error) {
    signal.throwIfAborted();
    if (!isEvidenceError(error)) throw error;
    return { ...answer(runId, 'failed', until), reason: error.message, next_step: error.nextStep ?? null };
  }
}

/**
 * Returns what `restampRun` would do for a run, and the key of the token that it would store; null for none. Sends
 * nothing to the authority and writes nothing.
 * @throws EvidenceError as `restampRun` does.
 */
export async function foreseeRestamp(
  context: Omit<RestampContext, 'orderedBy' | 'signal'>,
  runId: string,
): Promise<Restamped & { token_key: string | null }> {
  const found = await examine(context, runId);
  if ('state' in found) return { ...found, token_key: null };
  return { ...answer(runId, 'due', found.newest?.until ?? null), token_key: found.stamps.next.key };
}

/** @returns the final result if the run needs no token. */
async function examine(
  { archive, stamping, before, now }: Omit<RestampContext, 'orderedBy' | 'signal'>,
  runId: string,
): Promise<Due | Restamped> {
  const finalized = await readFinalizedRun(archive, runId);
  if (finalized === null)
    throw new EvidenceError('not-found', `the archive has no finalized run ${runId}`, {
      nextStep: 'To finalize an unfinished run, run its export command again.',
    });
  const stamps = await readStamps(archive, runId);
  const finishedAt = new Date(finalized.record.finished_at);
  const verdicts = judgeStamps(stamps, finishedAt, { roots: stamping.roots, now });
  const bad = verdicts.find(({ state }) => state !== 'proved');
  if (bad !== undefined) return refuted(runId, bad);
  const newest = verdicts.at(-1);
  const until = newest?.until ?? null;
  return until !== null && until > before ? answer(runId, 'not-due', until) : { stamps, newest, finishedAt };
}

function refuted(runId: string, { key, remarks }: StampVerdict): Restamped {
  return {
    ...answer(runId, 'refuted', null),
    reason: `${key} is not valid: ${remarks.join('; ')}`,
    next_step:
      'Verify the archive. If only the root of an earlier authority is missing, add it to the file in sign.tsa_roots.',
  };
}

function answer(runId: string, state: Restamped['state'], until: Date | null): Restamped {
  return { run_id: runId, state, until: until?.toISOString() ?? null, reason: null, next_step: null };
}

import {
  CLAIMS,
  type ClaimName,
  type ReportedClaim,
  type ReportedClaims,
  type StreamStatus,
  statusBy,
} from './claim.ts';
import type { Verdict } from './verdict.ts';

/**
 * A verdict as a verification reports it: made here, or where nothing was looked at, the `recorded` one. Its status is
 * `refuted` too where no claim is: the bundle is not what was archived, or other runs contradict it.
 */
export interface ReportedVerdict extends Omit<Verdict, 'status' | 'claims'> {
  status: StreamStatus | 'recorded';
  claims: ReportedClaims;
}

/** The verdict on a stream that was not looked at. @param why in words that follow "recorded as proved,". */
export function asRecorded(recorded: Verdict, why: string): ReportedVerdict {
  const claims = mapClaims((name): ReportedClaim => {
    const { state } = recorded.claims[name];
    return { state: 'recorded', recorded: state, reason: `recorded as ${state}, ${why}` };
  });
  return { ...recorded, status: 'recorded', claims };
}

/** Our own verdict, which says of what it leaves unproved how it was recorded. */
export function withRecorded(ours: Verdict, recorded: Verdict): ReportedVerdict {
  const claims = mapClaims((name): ReportedClaim => {
    const [claim, { state }] = [ours.claims[name], recorded.claims[name]];
    return claim.state === 'unproved' && state !== 'unproved' ? { ...claim, recorded: state } : claim;
  });
  return { ...ours, claims };
}

/** Claims that rest on more than the forms of the package: on what a bundle says that others said. */
export type Reported = 'continuity' | 'completeness';

/**
 * The verdict where it is not known here that the others said so: what is proved if they did was read back, and no more.
 * @param why it is not known, by the claims of which it is not.
 */
export function asReadBack(
  verdict: ReportedVerdict,
  why: Readonly<Partial<Record<Reported, string>>>,
  required: readonly ClaimName[],
): ReportedVerdict {
  const claims = mapClaims((name): ReportedClaim => {
    const [claim, reason] = [verdict.claims[name], why[name as Reported]];
    if (claim.state !== 'proved' || reason === undefined) return claim;
    return { ...claim, state: 'recorded', recorded: 'proved', reason: `recorded as proved, and ${reason}` };
  });
  const { status } = verdict;
  return {
    ...verdict,
    claims,
    status: status === 'verified' || status === 'collected' ? statusBy(claims, required) : status,
  };
}

function mapClaims(claimOf: (name: ClaimName) => ReportedClaim): ReportedClaims {
  return Object.fromEntries(CLAIMS.map((name) => [name, claimOf(name)])) as ReportedClaims;
}

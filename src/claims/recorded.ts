import { CLAIMS, type ReportedClaim, type ReportedClaims, type StreamStatus } from './claim.ts';
import type { Verdict } from './verdict.ts';

/** A verdict as a verification reports it: made here, or where nothing was looked at, the `recorded` one. */
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

function mapClaims(claimOf: (name: (typeof CLAIMS)[number]) => ReportedClaim): ReportedClaims {
  return Object.fromEntries(CLAIMS.map((name) => [name, claimOf(name)])) as ReportedClaims;
}

import {
  CLAIMS,
  type Claim,
  type ClaimName,
  mapClaims,
  type ReportedClaim,
  type ReportedClaims,
  type StreamStatus,
  statusBy,
  takesSecret,
} from './claim.ts';
import type { Verdict } from './verdict.ts';

/**
 * Verdict as a verification reports it: our own, or the `recorded` one if nothing was checked. The status can be
 * `refuted` without a refuted claim: the bundle is not the archived one, other runs contradict it, or the export
 * recorded it as refuted.
 */
export interface ReportedVerdict extends Omit<Verdict, 'status' | 'claims'> {
  status: StreamStatus | 'recorded';
  claims: ReportedClaims;
  /** Claims that the export recorded as refuted, with reasons; only if no claim is refuted here. */
  recorded_refutation?: RecordedRefutation[] | undefined;
}

export interface RecordedRefutation {
  claim: ClaimName;
  reason: string;
}

/** Returns the verdict on a stream that was not checked. @param why words that follow "recorded as proved,". */
export function asRecorded(recorded: Verdict, why: string): ReportedVerdict {
  const claims = mapClaims((name): ReportedClaim => {
    const { state } = recorded.claims[name];
    return { state: 'recorded', recorded: state, reason: `recorded as ${state}, ${why}` };
  });
  return { ...recorded, status: 'recorded', claims, ...refutationIn(recorded, claims) };
}

/**
 * Returns our own verdict, with the recorded state of claims that it leaves unproved. A stream that the export refuted
 * with its keys and roots stays refuted, whatever is derived here with others.
 */
export function withRecorded(ours: Verdict, recorded: Verdict): ReportedVerdict {
  const claims = mapClaims((name): ReportedClaim => {
    const [claim, { state }] = [ours.claims[name], recorded.claims[name]];
    if (claim.state !== 'unproved' || state === 'unproved') return claim;
    if (state === 'proved') return { ...claim, recorded: state };
    return {
      state: 'recorded',
      recorded: state,
      reason: `recorded as refuted, not checked here: ${claim.reason ?? 'no reason is given'}`,
    };
  });
  const status = recorded.status === 'refuted' ? 'refuted' : ours.status;
  return { ...ours, status, claims, ...refutationIn(recorded, claims) };
}

function refutationIn(
  { status, claims: recorded, findings }: Verdict,
  here: ReportedClaims,
): Pick<ReportedVerdict, 'recorded_refutation'> {
  if (status !== 'refuted' || CLAIMS.some((name) => here[name].state === 'refuted')) return {};
  const refuted = CLAIMS.filter((name) => recorded[name].state === 'refuted');
  return {
    recorded_refutation: refuted.map((claim) => ({ claim, reason: reasonOf(claim, recorded[claim], findings) })),
  };
}

/** Returns the message of the first finding, which says more than a number of findings. */
function reasonOf(name: ClaimName, { reason }: Claim, findings: Verdict['findings']): string {
  const first = findings.find(({ code, severity }) => severity === 'error' && code.startsWith(`${name}/`));
  return first?.message ?? reason ?? 'no reason is recorded';
}

/** Claims that rest on more than the package's forms: on statements of others that the bundle reports. */
export type Reported = 'continuity' | 'completeness';

/**
 * Returns the verdict if the statements of others are not confirmed here: claims proved by them become recorded.
 * @param why reasons that the statements are not confirmed, by claim.
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

/**
 * Returns the verdict on a stream of a run that a key of the reader vouches for. Claims that take a secret which the
 * reader lacks, and were recorded as proved, count as recorded; vouching never proves them.
 * @param required claims as returned by `withoutSecrets`.
 */
export function asVouchedFor(
  verdict: ReportedVerdict,
  required: readonly ClaimName[],
  { whole }: { whole: boolean },
): ReportedVerdict {
  const counts = (name: ClaimName) =>
    takesSecret(name) && verdict.claims[name].state === 'unproved' && verdict.claims[name].recorded === 'proved';
  if (!CLAIMS.some(counts)) return verdict;
  const claims = mapClaims((name): ReportedClaim => {
    const claim = verdict.claims[name];
    if (!counts(name)) return claim;
    return {
      ...claim,
      state: 'recorded',
      vouched_for: true,
      reason: `recorded as proved: vouched for by the signature (${claim.reason ?? 'not checked here'})`,
    };
  });
  const { status } = verdict;
  return { ...verdict, claims, status: status === 'incomplete' && whole ? statusBy(claims, required) : status };
}

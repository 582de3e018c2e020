import type { Claim, ClaimName, ReportedClaim } from '../../verifier/claims/claim.ts';
import type { ReportedVerdict } from '../../verifier/claims/recorded.ts';
import type { Verdict } from '../../verifier/claims/verdict.ts';
import type { ObjectFinding } from '../../verifier/verify/object-finding.ts';

/** To the verifier. */
export interface VerifierRequest {
  file: File;
  /** Milliseconds since 1970: the claims take the time as an argument. */
  now: number;
}

/** From the verifier: any number of progress, then one of the others. */
export type Reply =
  /** The part of the bundle that was read, 0 to 1. */
  | { kind: 'progress'; share: number }
  | { kind: 'result'; result: Result }
  /** Nothing was verified; a bundle that is broken is a result. */
  | { kind: 'failure'; message: string };

/** The result of the verification of one bundle. */
export interface Result {
  /** Findings in the bag and in its statements; without one it is exactly what its manifest says. */
  bundleFindings: ObjectFinding[];
  identity: string | null;
  runId: string | null;
  streamId: string | null;
  entries: number;
  /** Ours; null when there is nothing to judge. */
  status: ReportedVerdict['status'] | null;
  /** The words for what only the export refuted; null where that is not so. */
  refutation: string | null;
  claims: {
    name: ClaimName;
    state: ReportedClaim['state'];
    why: string;
    /** The program that checks what is not checked in a browser. */
    elsewhere: string | null;
    /** As the bundle states it. */
    stated: Claim['state'] | null;
  }[];
  findings: Verdict['findings'];
  /** All of them; `findings` holds the first. */
  findingsCount: number;
}

import type { Claim, ClaimName, ReportedClaim } from '../../verifier/claims/claim.ts';
import type { ReportedVerdict } from '../../verifier/claims/recorded.ts';
import type { Verdict } from '../../verifier/claims/verdict.ts';
import type { ObjectFinding } from '../../verifier/verify/object-finding.ts';

/** Message from the page to the verifier. */
export interface VerifierRequest {
  file: File;
  /** Milliseconds since 1970. The claims take the current time as an argument. */
  now: number;
}

/** Message from the verifier to the page: any number of `progress`, then one `result` or `failure`. */
export type Reply =
  /** Fraction of the bundle that has been read, 0 to 1. */
  | { kind: 'progress'; share: number }
  | { kind: 'result'; result: Result }
  /** The bundle could not be verified at all. A damaged bundle is a `result`. */
  | { kind: 'failure'; message: string };

/** Result of verifying one bundle. */
export interface Result {
  /** Findings in the bag and in its statements. If empty, the bag is exactly as its manifest states. */
  bundleFindings: ObjectFinding[];
  identity: string | null;
  runId: string | null;
  streamId: string | null;
  entries: number;
  /** Status computed in the browser; null if there is nothing to judge. */
  status: ReportedVerdict['status'] | null;
  /** Explanation of a refutation that only the export recorded; null if there is none. */
  refutation: string | null;
  claims: {
    name: ClaimName;
    state: ReportedClaim['state'];
    why: string;
    /** Program that checks a claim that the browser cannot check. */
    elsewhere: string | null;
    /** State recorded in the bundle. */
    stated: Claim['state'] | null;
  }[];
  findings: Verdict['findings'];
  /** Total number of findings; `findings` holds only the first. */
  findingsCount: number;
}

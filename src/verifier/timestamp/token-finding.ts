import type { BareFinding } from '../model/finding.ts';

/**
 * Deviations of a token. Most refute it. `unknown-issuer` and `future` leave it unproved, and `certificate-expired` is a
 * warning to stamp again.
 */
export type TokenFindingCode =
  | 'anchor/malformed'
  | 'anchor/not-granted'
  | 'anchor/imprint-mismatch'
  | 'anchor/nonce-mismatch'
  | 'anchor/bad-signature'
  | 'anchor/not-timestamping'
  | 'anchor/untrusted'
  | 'anchor/unknown-issuer'
  | 'anchor/future'
  | 'anchor/certificate-expired';

export type TokenFinding = BareFinding<TokenFindingCode>;

export function toTokenFinding(
  code: TokenFindingCode,
  message: string,
  place: { expected?: string; actual?: string } = {},
): TokenFinding {
  return { code, message, ...place };
}

export function refutes(finding: TokenFinding): boolean {
  return finding.code !== 'anchor/certificate-expired' && !leavesOpen(finding);
}

/** True if a token with this finding proves nothing, and is not known to be wrong either. */
export function leavesOpen({ code }: TokenFinding): boolean {
  return code === 'anchor/unknown-issuer' || code === 'anchor/future';
}

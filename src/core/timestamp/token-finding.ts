/**
 * Codes of findings about a token. Most refute the token. `unknown-issuer` and `future` leave it unproved, and
 * `certificate-expired` is a warning to time-stamp again.
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

export interface TokenFinding {
  code: TokenFindingCode;
  message: string;
  expected?: string;
  actual?: string;
}

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

/** Reports whether a token with this finding proves nothing, without being known to be wrong. */
export function leavesOpen({ code }: TokenFinding): boolean {
  return code === 'anchor/unknown-issuer' || code === 'anchor/future';
}

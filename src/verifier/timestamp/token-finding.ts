import type { BareFinding } from '../model/finding.ts';

/** What can be wrong with a token. All refute it but `certificate-expired`, which is a warning to stamp again. */
export type TokenFindingCode =
  | 'anchor/malformed'
  | 'anchor/not-granted'
  | 'anchor/imprint-mismatch'
  | 'anchor/nonce-mismatch'
  | 'anchor/bad-signature'
  | 'anchor/not-timestamping'
  | 'anchor/untrusted'
  | 'anchor/certificate-expired';

export type TokenFinding = BareFinding<TokenFindingCode>;

export function toTokenFinding(
  code: TokenFindingCode,
  message: string,
  place: { expected?: string; actual?: string } = {},
): TokenFinding {
  return { code, message, ...place };
}

export function refutes({ code }: TokenFinding): boolean {
  return code !== 'anchor/certificate-expired';
}

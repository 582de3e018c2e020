/** What can be wrong with a token. All refute it but `certificate-expired`, which is a warning to stamp again. */
export type TokenFaultCode =
  | 'anchor/malformed'
  | 'anchor/not-granted'
  | 'anchor/imprint-mismatch'
  | 'anchor/nonce-mismatch'
  | 'anchor/bad-signature'
  | 'anchor/not-timestamping'
  | 'anchor/untrusted'
  | 'anchor/certificate-expired';

export interface TokenFault {
  code: TokenFaultCode;
  message: string;
  expected?: string;
  actual?: string;
}

export function fault(
  code: TokenFaultCode,
  message: string,
  place: { expected?: string; actual?: string } = {},
): TokenFault {
  return { code, message, ...place };
}

export function refutes({ code }: TokenFault): boolean {
  return code !== 'anchor/certificate-expired';
}

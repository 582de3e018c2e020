/** An agent has a certificate of each kind: one that every tool reads, and one that outlasts quantum computers. */
export const CERTIFICATE_KINDS = ['ecdsa', 'ml_dsa_65'] as const;
export type CertificateKind = (typeof CERTIFICATE_KINDS)[number];

/** JWS algorithms. A passport has a signature by each (RFC 8037, RFC 9964). */
export const SIGNATURE_ALGORITHMS = ['EdDSA', 'ML-DSA-65'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** Those of RFC 5280 section 5.3.1 that are in use here. */
export const REVOCATION_REASONS = ['certificateHold', 'cessationOfOperation', 'superseded'] as const;
export type RevocationReason = (typeof REVOCATION_REASONS)[number];

import { readRoots } from '../core/timestamp/roots.ts';
import type { VerifyOptions } from '../verifier/verify/content.ts';
import { type Trust, toVerifyOptions } from './trust.ts';

/** Your own facts and trust anchors, including time-stamping authorities. */
export interface StampTrust extends Trust {
  /** Roots of time-stamping authorities (RFC 3161), in PEM. If absent, anchors stay unproved. */
  timestampRoots?: string;
}

/** @throws EvidenceError `config` if the contract or roots are invalid. */
export function withRoots({ timestampRoots, ...trust }: StampTrust): VerifyOptions {
  const roots = timestampRoots === undefined ? null : readRoots(timestampRoots, 'timestampRoots');
  return { ...toVerifyOptions(trust), roots };
}

import { EvidenceError } from '../../core/errors.ts';

/** @throws EvidenceError `usage` unless `hex` is a SHA-256 digest as 64 hex digits. */
export function toImprint(hex: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(hex)) return Buffer.from(hex, 'hex');
  throw new EvidenceError('usage', 'what is to be time-stamped is not a SHA-256 digest of 64 hex digits');
}

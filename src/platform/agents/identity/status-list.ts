import { deflateSync } from 'node:zlib';
import type { PassportStatus } from '../enums.ts';
import { type PlatformSigner, signJwt } from './signatures.ts';
import { LIST_FRESH_SECONDS, LIST_SECONDS } from './terms.ts';

/** Token Status List (draft-ietf-oauth-status-list-17) section 7.1: VALID, INVALID for ever, SUSPENDED for now. */
const VALUES: Record<PassportStatus, number> = { valid: 0, revoked: 1, superseded: 1, suspended: 2 };
const BITS = 2;

/**
 * The status of every passport, as sections 4.1 and 5.1 write it: two bits each, from the lowest of each byte.
 * @param others statuses of those that are not valid, by index.
 * @param length one more than the greatest index.
 */
export function signStatusList(
  { url, others, length, now }: { url: string; others: ReadonlyMap<number, PassportStatus>; length: number; now: Date },
  signer: PlatformSigner,
): string {
  const bytes = new Uint8Array(Math.max(1, Math.ceil((length * BITS) / 8)));
  for (const [index, status] of others) {
    const at = (index * BITS) >> 3;
    bytes[at] = (bytes[at] ?? 0) | (VALUES[status] << ((index * BITS) & 7));
  }
  const lst = deflateSync(bytes, { level: 9 }).toString('base64url');
  const iat = Math.floor(now.getTime() / 1000);
  const terms = { sub: url, iat, exp: iat + LIST_SECONDS, ttl: LIST_FRESH_SECONDS };
  return signJwt({ ...terms, status_list: { bits: BITS, lst } }, 'statuslist+jwt', signer);
}

import { type KeyObject, sign } from 'node:crypto';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import type { PublicJwk } from './keys.ts';
import type { SignatureAlgorithm } from './kinds.ts';

/** Signs passports, lists and messages for the platform. */
export interface PlatformSigner {
  algorithm: SignatureAlgorithm;
  key: KeyObject;
  publicJwk: PublicJwk;
}

type JsonObject = { readonly [name: string]: Json };

/**
 * One signature of a JWS (RFC 7515 section 5.1). @param payload base64url.
 * @param header without `alg` and `kid`, which are the signer's.
 */
export function signJws(
  payload: string,
  header: JsonObject,
  { algorithm, key, publicJwk }: PlatformSigner,
): { protected: string; signature: string } {
  const words = base64Json({ ...header, alg: algorithm, kid: publicJwk.kid });
  const signature = sign(null, Buffer.from(`${words}.${payload}`), key).toString('base64url');
  return { protected: words, signature };
}

/** A JWT (RFC 7519) of a type. */
export function signJwt(claims: JsonObject, typ: string, signer: PlatformSigner): string {
  const payload = base64Json(claims);
  const { protected: header, signature } = signJws(payload, { typ }, signer);
  return `${header}.${payload}.${signature}`;
}

/** RFC 8785 of it, in base64url. */
export function base64Json(value: JsonObject): string {
  return Buffer.from(canonicalize({ ...value })).toString('base64url');
}

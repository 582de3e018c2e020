import { type KeyObject, sign } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import { type PassportStatus, SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../enums.ts';
import type { PublicJwk } from './identity-rows.ts';

/** Seconds for which a list of revoked certificates or passports may stand for the next one if that cannot be had. */
export const LIST_SECONDS = 86_400;
/** Seconds for which a list of passports is as good as a new one. */
export const LIST_FRESH_SECONDS = 60;

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
function signJwt(claims: JsonObject, typ: string, signer: PlatformSigner): string {
  const payload = base64Json(claims);
  const { protected: header, signature } = signJws(payload, { typ }, signer);
  return `${header}.${payload}.${signature}`;
}

/** RFC 8785 of it, in base64url. */
export function base64Json(value: JsonObject): string {
  return Buffer.from(canonicalize({ ...value })).toString('base64url');
}

export const PASSPORT_FORMAT = 'evidence-agent-passport/1';
const PASSPORT_TYPE = 'agent-passport+json';
/**
 * In the protected header of each signature, and critical (RFC 7515 section 4.1.11): the algorithms by all of which the
 * passport must be signed. Whoever does not know this parameter has to refuse the passport.
 */
const REQUIRED_ALGORITHMS = 'required_algs';

/** RFC 7515 section 7.2.1. */
export interface GeneralJws {
  payload: string;
  signatures: { protected: string; signature: string }[];
}

/** The claims of a passport. */
// Over ten members: they are claims.
export interface PassportClaims {
  format: typeof PASSPORT_FORMAT;
  /** The address of the service. */
  iss: string;
  /** The DID of the agent. */
  sub: string;
  jti: string;
  /** Seconds since 1970. */
  iat: number;
  nbf: number;
  exp: number;
  agent_id: string;
  agent_type: string;
  spiffe_id: string;
  /** Hex. */
  composition_sha256: string;
  /** RFC 7800: whoever holds it has the private key of this RFC 7638 thumbprint, the agent's Ed25519 key. */
  cnf: { jkt: string };
  /** Thumbprints of the agent's keys. */
  agent_keys: { ed25519: string; ml_dsa_65: string };
  certificates: { ecdsa: CertificateClaim; ml_dsa_65: CertificateClaim };
  /** Token Status List. */
  status: { status_list: { idx: number; uri: string } };
  /** The address at which anybody asks for the agent's current state. */
  status_url: string;
}

export interface CertificateClaim {
  /** Hex. */
  serial: string;
  /** RFC 8705: base64url SHA-256 of the certificate in DER. */
  'x5t#S256': string;
}

/** Signs by all algorithms. @param signers one for each. */
export function signPassport(claims: PassportClaims, signers: readonly PlatformSigner[]): GeneralJws {
  const payload = base64Json({ ...claims } as unknown as { [name: string]: Json });
  const required = { crit: [REQUIRED_ALGORITHMS], [REQUIRED_ALGORITHMS]: [...SIGNATURE_ALGORITHMS] };
  return {
    payload,
    signatures: signers.map((signer) => signJws(payload, { typ: PASSPORT_TYPE, ...required }, signer)),
  };
}

export type SecurityEventName = 'suspended' | 'revoked' | 'reinstated';

/** An event about an agent, for subscribers. */
export interface SecurityEvent {
  /** The audience. */
  aud: string;
  jti: string;
  /** The id shared by several messages: that of a kill. */
  txn?: string;
  event: SecurityEventName;
  /** When it happened. */
  at: Date;
  /** No secrets: it is signed, not encrypted. */
  detail: { [name: string]: Json };
}

const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
/** Events that every receiver of OpenID RISC knows. Our own event stands beside each, with its detail. */
const RISC_EVENTS: Record<SecurityEventName, string> = {
  suspended: `${RISC}/account-disabled`,
  revoked: `${RISC}/account-disabled`,
  reinstated: `${RISC}/account-enabled`,
};

/** A Security Event Token (RFC 8417), whose subject is a DID (RFC 9493 section 3.2.6). */
export function signSecurityEventToken(
  { aud, jti, txn, event, at, detail }: SecurityEvent,
  { issuer, did, now }: { issuer: string; did: string; now: Date },
  signer: PlatformSigner,
): string {
  const seconds = (time: Date) => Math.floor(time.getTime() / 1000);
  const claims = {
    iss: issuer,
    jti,
    iat: seconds(now),
    aud,
    toe: seconds(at),
    ...(txn !== undefined && { txn }),
    sub_id: { format: 'did', url: did },
    events: { [RISC_EVENTS[event]]: {}, [`urn:evidence-platform:agent:${event}`]: detail },
  };
  return signJwt(claims, 'secevent+jwt', signer);
}

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

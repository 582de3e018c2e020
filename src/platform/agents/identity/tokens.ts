import { type KeyObject, sign } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import { type PassportStatus, SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../enums.ts';
import type { PublicJwk } from './identity-rows.ts';

/** Seconds for which a list of revoked certificates or passports stays valid if the next one cannot be fetched. */
export const LIST_SECONDS = 86_400;
/** Seconds for which a list of passports may be cached. */
export const LIST_FRESH_SECONDS = 60;

/** Signer of passports, lists and messages of the platform. */
export interface PlatformSigner {
  algorithm: SignatureAlgorithm;
  key: KeyObject;
  publicJwk: PublicJwk;
}

type JsonObject = { readonly [name: string]: Json };

/**
 * Returns one signature of a JWS (RFC 7515 section 5.1). @param payload base64url.
 * @param header without `alg` and `kid`, which come from the signer.
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

/** Returns a signed JWT (RFC 7519) of a type. */
function signJwt(claims: JsonObject, typ: string, signer: PlatformSigner): string {
  const payload = base64Json(claims);
  const { protected: header, signature } = signJws(payload, { typ }, signer);
  return `${header}.${payload}.${signature}`;
}

/** Returns the RFC 8785 text of a value in base64url. */
export function base64Json(value: JsonObject): string {
  return Buffer.from(canonicalize({ ...value })).toString('base64url');
}

export const PASSPORT_FORMAT = 'evidence-agent-passport/1';
const PASSPORT_TYPE = 'agent-passport+json';
/**
 * Parameter in the protected header of each signature, marked critical (RFC 7515 section 4.1.11): all algorithms with
 * which the passport must be signed. A verifier that does not know this parameter has to refuse the passport.
 */
const REQUIRED_ALGORITHMS = 'required_algs';

/** JWS in the general JSON serialization: RFC 7515 section 7.2.1. */
export interface GeneralJws {
  payload: string;
  signatures: { protected: string; signature: string }[];
}

/** Claims of a passport. */
// Over ten members: the claims form one document.
export interface PassportClaims {
  format: typeof PASSPORT_FORMAT;
  /** Address of the service. */
  iss: string;
  /** DID of the agent. */
  sub: string;
  jti: string;
  /** Times in seconds since 1970. */
  iat: number;
  nbf: number;
  exp: number;
  agent_id: string;
  agent_type: string;
  spiffe_id: string;
  /** Digest of the composition, hex. */
  composition_sha256: string;
  /**
   * Confirmation of RFC 7800: the holder has the private key with this RFC 7638 thumbprint, the agent's Ed25519 key.
   */
  cnf: { jkt: string };
  /** Thumbprints of the agent's keys. */
  agent_keys: { ed25519: string; ml_dsa_65: string };
  certificates: { ecdsa: CertificateClaim; ml_dsa_65: CertificateClaim };
  /** Reference to the Token Status List. */
  status: { status_list: { idx: number; uri: string } };
  /** Address at which anyone can request the agent's current state. */
  status_url: string;
}

export interface CertificateClaim {
  /** Serial number, hex. */
  serial: string;
  /** Thumbprint of RFC 8705: base64url SHA-256 of the certificate in DER. */
  'x5t#S256': string;
}

/** Signs a passport with all algorithms. @param signers one for each. */
export function signPassport(claims: PassportClaims, signers: readonly PlatformSigner[]): GeneralJws {
  const payload = base64Json({ ...claims } as unknown as { [name: string]: Json });
  const required = { crit: [REQUIRED_ALGORITHMS], [REQUIRED_ALGORITHMS]: [...SIGNATURE_ALGORITHMS] };
  return {
    payload,
    signatures: signers.map((signer) => signJws(payload, { typ: PASSPORT_TYPE, ...required }, signer)),
  };
}

export type SecurityEventName = 'suspended' | 'revoked' | 'reinstated';

/** Event about an agent, for subscribers. */
export interface SecurityEvent {
  /** Audience of the token. */
  aud: string;
  jti: string;
  /** Id shared by several messages: that of a kill. */
  txn?: string;
  event: SecurityEventName;
  /** Time of the event. */
  at: Date;
  /** Details without secrets, because tokens are signed but not encrypted. */
  detail: { [name: string]: Json };
}

const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
/** Events that every receiver of OpenID RISC knows. Each token also has our own event, with the details. */
const RISC_EVENTS: Record<SecurityEventName, string> = {
  suspended: `${RISC}/account-disabled`,
  revoked: `${RISC}/account-disabled`,
  reinstated: `${RISC}/account-enabled`,
};

/** Signs a Security Event Token (RFC 8417), whose subject is a DID (RFC 9493 section 3.2.6). */
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

/**
 * Status values of Token Status List (draft-ietf-oauth-status-list-17) section 7.1: VALID, INVALID (permanent),
 * SUSPENDED (temporary).
 */
const VALUES: Record<PassportStatus, number> = { valid: 0, revoked: 1, superseded: 1, suspended: 2 };
const BITS = 2;

/**
 * Signs the list of the statuses of all passports in the form of sections 4.1 and 5.1: two bits each, starting at the
 * lowest bits of each byte.
 * @param others statuses other than valid, by index.
 * @param length one more than the highest index.
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

import { createPublicKey, verify } from 'node:crypto';
import { SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../../../../src/platform/agents/enums.ts';
import type { PublicJwk } from '../../../../src/platform/agents/identity/identity-rows.ts';
import type { GeneralJws, PassportClaims } from '../../../../src/platform/agents/identity/tokens.ts';

const PASSPORT_FORMAT = 'evidence-agent-passport/1';
const PASSPORT_TYPE = 'agent-passport+json';
const REQUIRED_ALGORITHMS = 'required_algs';

/** Result of verifying a passport; a refusal has its reasons as sentences. */
type PassportVerdict = { accepted: true; claims: PassportClaims } | { accepted: false; reasons: string[] };

interface PassportTrust {
  /** Keys of the issuer's `jwks.json`. */
  keys: readonly PublicJwk[];
  issuer: string;
  now: Date;
  /** Algorithms that the verifier knows. */
  algorithms?: readonly SignatureAlgorithm[];
}

/**
 * Verifies a passport for a relying party: its claims, both signatures, its issuer and its time; the status list has
 * its present state. Trusts nothing in the passport before both signatures verify. Refuses a passport signed with fewer
 * algorithms than it requires, and one with parts that this verifier does not know.
 */
export function verifyPassport(jws: unknown, trust: PassportTrust): PassportVerdict {
  if (!isGeneralJws(jws)) return { accepted: false, reasons: ['it is no JWS with a list of signatures'] };
  const known = trust.algorithms ?? SIGNATURE_ALGORITHMS;
  const reasons: string[] = [];
  for (const algorithm of SIGNATURE_ALGORITHMS) {
    if (known.includes(algorithm)) reasons.push(...faultsOf(jws, algorithm, trust.keys));
    else reasons.push(`this verifier does not know ${algorithm}, and the passport counts with both signatures only`);
  }
  if (reasons.length > 0) return { accepted: false, reasons };
  const claims = JSON.parse(Buffer.from(jws.payload, 'base64url').toString()) as PassportClaims;
  reasons.push(...faultsOfClaims(claims, trust));
  return reasons.length > 0 ? { accepted: false, reasons } : { accepted: true, claims };
}

/** Accepts any JSON. */
function isGeneralJws(jws: unknown): jws is GeneralJws {
  const { payload, signatures } = (jws ?? {}) as Partial<Record<keyof GeneralJws, unknown>>;
  if (typeof payload !== 'string' || !Array.isArray(signatures)) return false;
  return signatures.every(
    (each) => typeof each?.protected === 'string' && typeof each?.signature === 'string' && each.header === undefined,
  );
}

function faultsOf(jws: GeneralJws, algorithm: SignatureAlgorithm, keys: readonly PublicJwk[]): string[] {
  const own = jws.signatures.filter((signature) => headerOf(signature)?.alg === algorithm);
  const [signature] = own;
  if (signature === undefined || own.length > 1)
    return [`the passport has ${own.length} signatures by ${algorithm}, not one`];
  const { kid, typ, crit, [REQUIRED_ALGORITHMS]: required } = headerOf(signature) ?? {};
  if (typ !== PASSPORT_TYPE) return [`the signature by ${algorithm} is of no passport`];
  const isRequired = JSON.stringify(crit) === JSON.stringify([REQUIRED_ALGORITHMS]);
  if (!isRequired || JSON.stringify(required) !== JSON.stringify(SIGNATURE_ALGORITHMS))
    return [`the signature by ${algorithm} does not require both algorithms`];
  const key = keys.find((candidate) => candidate.kid === kid && candidate.alg === algorithm);
  if (key === undefined) return [`the signature by ${algorithm} is by a key that the issuer does not have`];
  const signed = Buffer.from(`${signature.protected}.${jws.payload}`);
  return isSignedByKey(key, signed, signature.signature) ? [] : [`the signature by ${algorithm} does not hold`];
}

interface ClaimedHeader {
  alg?: unknown;
  kid?: unknown;
  typ?: unknown;
  crit?: unknown;
  [REQUIRED_ALGORITHMS]?: unknown;
}

function headerOf({ protected: header }: GeneralJws['signatures'][number]): ClaimedHeader | null {
  try {
    return JSON.parse(Buffer.from(header, 'base64url').toString()) as ClaimedHeader;
  } catch {
    return null;
  }
}

function faultsOfClaims({ format, iss, nbf, exp }: PassportClaims, { issuer, now }: PassportTrust): string[] {
  const seconds = now.getTime() / 1000;
  const faults: string[] = [];
  if (format !== PASSPORT_FORMAT) faults.push(`it is of another format than ${PASSPORT_FORMAT}`);
  if (iss !== issuer) faults.push('it is of another issuer');
  if (!(nbf <= seconds)) faults.push('it is not valid yet');
  if (!(seconds < exp)) faults.push('it is not valid any more');
  return faults;
}

function isSignedByKey(jwk: PublicJwk, message: Uint8Array, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.toString('base64url') !== signature) return false;
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), bytes);
}

import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { CLOCK_TOLERANCE, isOlderThan } from '../../core/timestamp/age.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import { readResponse, type Token } from '../../core/timestamp/token.ts';
import { refutes } from '../../core/timestamp/token-finding.ts';
import { verifyToken } from '../../core/timestamp/verify.ts';
import { AUTHORITY_COMMON_NAME } from './certificates.ts';

/** Time-stamping authority, which binds a digest to a time by RFC 3161. */
export interface TimestampAuthority {
  /** Kind of authority. `development` is built into the platform, and thus not an independent witness. */
  readonly kind: 'external' | 'development';
  readonly url: string;
  /**
   * @param digestHex a SHA-256 digest in 64 hex digits, which becomes the token's message imprint unchanged.
   * @returns `token`, the DER of a TimeStampResp (section 2.4.2), and the time that it states.
   */
  stamp(digestHex: string): Promise<{ token: Uint8Array; genTime: Date }>;
}

/** @throws EvidenceError `usage` unless `hex` is a SHA-256 digest in 64 hex digits. */
export function toImprint(hex: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(hex)) return Buffer.from(hex, 'hex');
  throw new EvidenceError('usage', 'what is to be time-stamped is not a SHA-256 digest of 64 hex digits');
}

export const SHA256 = '2.16.840.1.101.3.4.2.1';
export const SIGNED_DATA = '1.2.840.113549.1.7.2';
export const TST_INFO = '1.2.840.113549.1.9.16.1.4';

interface Asked {
  /** SHA-256 digest to be stamped. */
  imprint: Buffer;
  /** Nonce that ties the answer to the request; without it, an old answer could be replayed. */
  nonce: Buffer;
}

/** Returns the DER of a TimeStampReq (RFC 3161 section 2.4.1) that also requests the authority's certificate. */
export async function encodeRequest({ imprint, nonce }: Asked): Promise<Buffer> {
  const pkijs = await import('pkijs');
  const asn1 = await import('asn1js');
  const query = new pkijs.TimeStampReq({
    version: 1,
    messageImprint: new pkijs.MessageImprint({
      hashAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: SHA256, algorithmParams: new asn1.Null() }),
      hashedMessage: new asn1.OctetString({ valueHex: imprint }),
    }),
    nonce: asn1.Integer.fromBigInt(toInteger(nonce)),
    certReq: true,
  });
  return Buffer.from(query.toSchema().toBER());
}

/** Conditions for a token, in addition to those of its request. */
export interface Trust {
  /** Roots that the operator pins; empty if any authority is accepted. */
  roots: readonly Certificate[];
  clock: () => Date;
}

/**
 * Verifies the answer of an authority: granted, same digest, same nonce, a certificate for time-stamping whose key
 * signed it, and a time beside our clock; with pinned roots, also the path to one of them.
 *
 * @param authority name in errors.
 * @param der a TimeStampResp (RFC 3161 section 2.4.2).
 * @returns the time that it states.
 * @throws EvidenceError `service` unless all of this holds.
 */
export function verifyAnswer(authority: string, der: Buffer, asked: Asked, { roots, clock }: Trust): Date {
  const now = clock();
  const question = { digest: asked.imprint.toString('hex'), nonce: toInteger(asked.nonce), roots, now };
  const { faults, says } = verifyToken(der, question);
  const wrong = faults.filter((fault) => refutes(fault) || fault.code === 'anchor/future' || roots.length > 0);
  const reasons = wrong.map(({ message }) => message);
  if (says !== null && isOlderThan(says, now, CLOCK_TOLERANCE.exporter))
    reasons.push(`the token is of ${says.genTime.toISOString()}, but the clock here says ${now.toISOString()}`);
  if (says?.authority === null) reasons.push('it carries no certificate of its signer');
  if (says !== null && reasons.length === 0) return says.genTime;
  throw new EvidenceError(
    'service',
    `the answer of the time-stamping authority ${authority} is no anchor: ${reasons.join('; ')}`,
    {
      nextStep:
        'Check the clock and tsa_roots, or try another --tsa-url; the checkpoint stays pending and is tried again.',
    },
  );
}

function toInteger(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

/** Statements of a timestamp that was verified when it arrived. */
export interface StatedStamp {
  /** Hex of the stamped digest. */
  imprint: string;
  genTime: Date;
  /** True if a development authority issued it, of this or another platform. */
  isDevelopment: boolean;
}

/** Reads the DER of a TimeStampResp; null if it is invalid or grants nothing. */
export function readStamp(der: Uint8Array): StatedStamp | null {
  const token = tokenIn(der);
  if (token === null) return null;
  const { imprint, genTime } = token.info;
  return {
    imprint: Buffer.from(imprint.digest).toString('hex'),
    genTime,
    isDevelopment: token.certificates.some(({ subject }) => subject.text.includes(AUTHORITY_COMMON_NAME)),
  };
}

function tokenIn(der: Uint8Array): Token | null {
  try {
    return readResponse(der).token;
  } catch (error) {
    if (isEvidenceError(error, 'unreadable')) return null;
    throw error;
  }
}

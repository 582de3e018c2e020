import { randomBytes } from 'node:crypto';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { digestOidOfLength } from '../../core/timestamp/algorithms.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import { TAG } from '../../core/timestamp/der.ts';
import { judgeStamp, type Stamps, type StampVerdict } from '../../verifier/records/stamps.ts';
import type { Archive } from '../archive/archive.ts';
import type { AuthorityClient } from '../client/authority.ts';
import { putBytes } from '../records/put-record.ts';

export interface Stamping {
  authority: AuthorityClient;
  /** Pinned roots; a token is stored only if it verifies under them. */
  roots: readonly Certificate[];
}

interface StampOptions {
  /** Earliest acceptable time of the token. */
  notBefore: Date;
  /** The token's certificates must expire later than this. */
  outlasting: Date | null;
  now: Date;
}

const NONCE_BYTES = 16;

/** Token that verifies in every respect under the pinned roots, not yet stored. */
export interface FreshStamp {
  key: string;
  der: Uint8Array;
  verdict: StampVerdict;
}

/**
 * Requests the next token of a run.
 *
 * @throws EvidenceError `unreachable`, `refused`, and `service` if the answer does not match the request.
 */
export async function requestStamp(
  { next }: Stamps,
  { authority, roots }: Stamping,
  { notBefore, outlasting, now }: StampOptions,
): Promise<FreshStamp> {
  // Sets the first bit, so that the nonce always has the full number of bits.
  const nonce = BigInt(`0x${randomBytes(NONCE_BYTES).toString('hex')}`) | (1n << BigInt(NONCE_BYTES * 8 - 1));
  const der = await authority.ask(timestampRequest(next.digest, nonce));
  const verdict = judgeStamp({ ...next, der }, { roots, now, notBefore, nonce });
  if (verdict.state !== 'proved' || verdict.remarks.length > 0 || verdict.until === null)
    throw new EvidenceError(
      'service',
      `the time-stamping authority ${authority.shown} returned an invalid token, which was not kept: ${verdict.remarks.join('; ')}`,
      {
        nextStep:
          'Check sign.tsa_url, its root in sign.tsa_roots, and the clock of this machine; then run the same command again.',
      },
    );
  if (outlasting !== null && verdict.until <= outlasting)
    throw new EvidenceError(
      'service',
      `the time-stamping authority ${authority.shown} still uses a certificate that expires on ${verdict.until.toISOString()}; its token was not kept`,
      {
        nextStep:
          'Such a token gains no time. Ask the authority for its new certificate, or configure another authority.',
      },
    );
  return { key: next.key, der, verdict };
}

/** Stores a token. If two exports stamp the same run at once, the first token stays. */
export async function keepStamp(archive: Archive, { key, der }: FreshStamp): Promise<void> {
  try {
    await putBytes(archive, key, der);
  } catch (error) {
    if (!isEvidenceError(error, 'conflict')) throw error;
  }
}

const MAX_NONCE_BITS = 160;

/**
 * Returns a TimeStampReq (RFC 3161 section 2.4.1) that also requests the certificates, so that the token can be
 * verified on its own.
 *
 * @param digest hex of SHA-256, SHA-384 or SHA-512, distinguished by length.
 * @param nonce random number of 1 to 160 bits, chosen by the caller. The token must return it (`TokenQuestion.nonce`).
 * @returns DER, to be sent as `application/timestamp-query`.
 * @throws TypeError for any other digest or nonce.
 */
export function timestampRequest(digest: string, nonce: bigint): Uint8Array {
  const algorithm = /^([0-9a-f]{2})+$/.test(digest) ? digestOidOfLength(digest.length / 2) : undefined;
  if (algorithm === undefined) throw new TypeError(`not a SHA-2 digest in hex: ${digest}`);
  if (nonce <= 0n || nonce >> BigInt(MAX_NONCE_BITS) !== 0n) throw new TypeError('a nonce has 1 to 160 bits');
  const version = encode(TAG.integer, [1]);
  const imprint = [
    ...encode(TAG.sequence, [...encodeOid(algorithm), ...encode(TAG.null, [])]),
    ...encode(TAG.octetString, Buffer.from(digest, 'hex')),
  ];
  const certReq = encode(TAG.boolean, [0xff]);
  const parts = [...version, ...encode(TAG.sequence, imprint), ...encodePositive(nonce), ...certReq];
  return Uint8Array.from(encode(TAG.sequence, parts));
}

/**
 * Encodes an element with a length of one octet: up to 127 bytes, enough for a request with the longest digest and
 * nonce.
 */
function encode(tag: number, content: Iterable<number>): number[] {
  const octets = [...content];
  return [tag, octets.length, ...octets];
}

/** Encodes a positive integer, with a leading zero if its first bit is set (X.690 section 8.3). */
function encodePositive(value: bigint): number[] {
  const digits = value.toString(16);
  const octets = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  return encode(TAG.integer, (octets[0] ?? 0) < 0x80 ? octets : [0, ...octets]);
}

/** Encodes an object identifier (X.690 section 8.19). */
function encodeOid(oid: string): number[] {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number & 0x7f];
    for (let left = number >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return encode(TAG.oid, octets);
}

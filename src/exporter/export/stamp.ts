import { randomBytes } from 'node:crypto';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { judgeStamp, type Stamps, type StampVerdict } from '../../verifier/records/stamps.ts';
import type { Certificate } from '../../verifier/timestamp/certificate.ts';
import type { Archive } from '../archive/archive.ts';
import type { AuthorityClient } from '../client/authority.ts';
import { putBytes } from '../records/put-record.ts';
import { timestampRequest } from './stamp-request.ts';

export interface Stamping {
  authority: AuthorityClient;
  /** The only roots that a token is kept under. */
  roots: readonly Certificate[];
}

export interface StampOptions {
  /** The time that the token must not be older than. */
  notBefore: Date;
  /** The token must rest on certificates that end later than this. */
  outlasting: Date | null;
  now: Date;
}

const NONCE_BYTES = 16;

/** A token that holds in every respect under the pinned roots; not stored yet. */
export interface FreshStamp {
  key: string;
  der: Uint8Array;
  verdict: StampVerdict;
}

/**
 * Asks for the next token of a run.
 *
 * @throws EvidenceError `unreachable`, `refused`, and `service` for an answer that is not what was asked for.
 */
export async function requestStamp(
  { next }: Stamps,
  { authority, roots }: Stamping,
  { notBefore, outlasting, now }: StampOptions,
): Promise<FreshStamp> {
  // The first bit makes it a number of so many bits, whatever the others are.
  const nonce = BigInt(`0x${randomBytes(NONCE_BYTES).toString('hex')}`) | (1n << BigInt(NONCE_BYTES * 8 - 1));
  const der = await authority.ask(timestampRequest(next.digest, nonce));
  const verdict = judgeStamp({ ...next, der }, { roots, now, notBefore, nonce });
  if (verdict.state !== 'proved' || verdict.remarks.length > 0 || verdict.until === null)
    throw new EvidenceError(
      'service',
      `the time-stamping authority ${authority.shown} answered with a token that does not hold, and it was not kept: ${verdict.remarks.join('; ')}`,
      {
        nextStep:
          'Check sign.tsa_url, its root in sign.tsa_roots, and the clock of this machine; then run the same command again.',
      },
    );
  if (outlasting !== null && verdict.until <= outlasting)
    throw new EvidenceError(
      'service',
      `the time-stamping authority ${authority.shown} still signs with a certificate that ends on ${verdict.until.toISOString()}; its token was not kept`,
      { nextStep: 'Nothing is gained by it: ask the authority for its new certificate, or name another one.' },
    );
  return { key: next.key, der, verdict };
}

/** Stores a token. Of two exports that stamp the same run at once, the first one's token stays. */
export async function keepStamp(archive: Archive, { key, der }: FreshStamp): Promise<void> {
  try {
    await putBytes(archive, key, der);
  } catch (error) {
    if (!isEvidenceError(error, 'conflict')) throw error;
  }
}

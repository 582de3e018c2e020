import { StreamingSha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import { CLOCK_TOLERANCE, isOlderThan } from '../../core/timestamp/age.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import { MAX_TOKEN_BYTES } from '../../core/timestamp/token.ts';
import { leavesOpen, refutes } from '../../core/timestamp/token-finding.ts';
import { verifyToken } from '../../core/timestamp/verify.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { runRecordKey, stampKey } from './keys.ts';

/** Maximum number of tokens of a run; one a year is many. */
const MAX_STAMPS = 1000;

/** Stored time-stamp token of a run. */
export interface StoredStamp {
  key: string;
  der: Uint8Array;
  /** Hex SHA-256 that the token must cover: of run.json followed by all earlier tokens. */
  digest: string;
}

export interface Stamps {
  stored: StoredStamp[];
  /** Key of the next token, and the digest that it must cover. */
  next: { key: string; digest: string };
}

/**
 * Reads the tokens of a finalized run, oldest first. Each renewal covers everything that it renews, like an
 * ArchiveTimeStamp (RFC 4998 section 5.2), in a form that needs no tool: `cat run.json run.tsr | sha256sum`.
 *
 * @throws EvidenceError `unreadable` if a token is too large or there are too many; `not-found` if the run is not
 * finalized.
 */
export async function readStamps(archive: ReadableArchive, runId: string): Promise<Stamps> {
  const covered = new StreamingSha256();
  for await (const chunk of await archive.read(runRecordKey(runId))) covered.update(chunk);
  const stored: StoredStamp[] = [];
  while (stored.length < MAX_STAMPS) {
    const next = { key: stampKey(runId, stored.length + 1), digest: covered.soFar() };
    if ((await archive.stat(next.key)) === null) return { stored, next };
    const der = await archive.readBytes(next.key, MAX_TOKEN_BYTES);
    stored.push({ ...next, der });
    covered.update(der);
  }
  throw new EvidenceError('unreadable', `run ${runId} has ${MAX_STAMPS} time-stamp tokens or more`);
}

interface StampQuestion {
  /** Trusted roots; null if none are pinned: nothing is proved then, but faults of a token itself are still found. */
  roots: readonly Certificate[] | null;
  now: Date;
  /** Time before which the covered bytes did not exist. */
  notBefore: Date;
  /** See `TokenQuestion`. */
  nonce?: bigint;
}

export interface StampVerdict {
  key: string;
  /** `proved`: an authority under a pinned root states that the covered bytes existed at `time`. */
  state: 'proved' | 'refuted' | 'unproved';
  /** Reasons why it is not proved, or remarks although it is. */
  remarks: string[];
  time: Date | null;
  authority: string | null;
  /** Expiry of the first certificate to expire on the path; null without a valid path. */
  until: Date | null;
}

export function judgeStamp({ key, der, digest }: StoredStamp, question: StampQuestion): StampVerdict {
  const { roots, now, notBefore, nonce } = question;
  const { faults, says, until } = verifyToken(der, {
    digest,
    roots: roots ?? [],
    now,
    ...(nonce === undefined ? {} : { nonce }),
  });
  // The token was sound when it was stored: even without roots, a fault of the token itself shows an alteration.
  const relevant = faults.filter(({ code }) => roots !== null || code !== 'anchor/unknown-issuer');
  const isOpen = roots === null || relevant.some(leavesOpen);
  const remarks = relevant.map(({ message }) => message);
  let refuted = relevant.some(refutes);
  if (says !== null && isOlderThan(says, notBefore, CLOCK_TOLERANCE.exporter)) {
    const [stamped, made] = [says.genTime, notBefore].map((time) => time.toISOString());
    remarks.push(`the token is of ${stamped}, and what it covers states a later time, ${made}`);
    refuted = true;
  }
  if (roots === null && !refuted) remarks.push('no time-stamping authority is trusted here: pin its root');
  const state = refuted ? 'refuted' : isOpen ? 'unproved' : 'proved';
  return { key, state, remarks, time: says?.genTime ?? null, authority: says?.authority ?? null, until };
}

/**
 * Judges all tokens of a run, each renewal by the time of the token that it renews.
 * @param finishedAt of the run.
 */
export function judgeStamps(
  { stored }: Stamps,
  finishedAt: Date,
  { roots, now }: { roots: readonly Certificate[] | null; now: Date },
): StampVerdict[] {
  const verdicts: StampVerdict[] = [];
  let notBefore = finishedAt;
  for (const stamp of stored) {
    const verdict = judgeStamp(stamp, { roots, now, notBefore });
    verdicts.push(verdict);
    // A time in the future bounds no later token.
    notBefore = verdict.time !== null && verdict.time <= now ? verdict.time : notBefore;
  }
  return verdicts.map((verdict, index) => withRenewal(verdict, verdicts[index + 1]));
}

/** Drops the remark about an expired certificate if the token was renewed before the expiry. */
function withRenewal(verdict: StampVerdict, renewal: StampVerdict | undefined): StampVerdict {
  const { state, until } = verdict;
  if (state !== 'proved' || until === null || renewal?.state !== 'proved' || renewal.time === null) return verdict;
  if (renewal.time <= until) return { ...verdict, remarks: [] };
  const gap = `its renewal is of ${renewal.time.toISOString()}, after the authority's certificate ended`;
  return { ...verdict, remarks: [gap] };
}

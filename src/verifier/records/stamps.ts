import { StreamingSha256 } from '../../core/digest.ts';
import { EvidenceError } from '../../core/errors.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { CLOCK_TOLERANCE, isOlderThan } from '../timestamp/age.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { MAX_TOKEN_BYTES } from '../timestamp/token.ts';
import { leavesOpen, refutes } from '../timestamp/token-finding.ts';
import { verifyToken } from '../timestamp/verify.ts';
import { runRecordKey, stampKey } from './keys.ts';

/** One a year is many. */
const MAX_STAMPS = 1000;

/** A stored time-stamp token of a run. */
export interface StoredStamp {
  key: string;
  der: Uint8Array;
  /** Hex SHA-256 of what it is to be over: run.json followed by all tokens before this one, byte after byte. */
  digest: string;
}

export interface Stamps {
  stored: StoredStamp[];
  /** The key of the next one, and the digest that it is over. */
  next: { key: string; digest: string };
}

/**
 * The tokens of a finalized run, the oldest first. Each renewal is over all that it renews, as an ArchiveTimeStamp is
 * (RFC 4998 section 5.2), in a form that needs no tool: `cat run.json run.tsr | sha256sum`.
 *
 * @throws EvidenceError `unreadable` for a token that is larger than any, and for more tokens than anybody makes;
 * `not-found` for a run that is not finalized.
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
  /** Null when none are pinned: then nothing is proved, but what is wrong by itself is found all the same. */
  roots: readonly Certificate[] | null;
  now: Date;
  /** The time before which what it covers did not exist. */
  notBefore: Date;
  /** See `TokenQuestion`. */
  nonce?: bigint;
}

export interface StampVerdict {
  key: string;
  /** `proved`: an authority under a pinned root says that what it covers existed at `time`. */
  state: 'proved' | 'refuted' | 'unproved';
  /** Reasons that it is not proved, or remarks although it is. */
  remarks: string[];
  time: Date | null;
  authority: string | null;
  /** When the first certificate that it rests on ends; null if it is not proved. */
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
  // It was sound when it was stored: without roots too, what is wrong with it by itself was altered since.
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
 * Judges all tokens of a run, each renewal by the time of the one that it renews.
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
    // A time that had not come yet bounds nothing that follows.
    notBefore = verdict.time !== null && verdict.time <= now ? verdict.time : notBefore;
  }
  return verdicts.map((verdict, index) => withRenewal(verdict, verdicts[index + 1]));
}

/** Leaves out that a certificate has ended since: that is no news of a token that was renewed before. */
function withRenewal(verdict: StampVerdict, renewal: StampVerdict | undefined): StampVerdict {
  const { state, until } = verdict;
  if (state !== 'proved' || until === null || renewal?.state !== 'proved' || renewal.time === null) return verdict;
  if (renewal.time <= until) return { ...verdict, remarks: [] };
  const gap = `its renewal is of ${renewal.time.toISOString()}, after the authority's certificate ended`;
  return { ...verdict, remarks: [gap] };
}

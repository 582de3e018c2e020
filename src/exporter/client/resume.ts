import type { Answer } from './answer.ts';

/** A version of a file of which a part is here, and which the service can be asked to continue. */
export interface Version {
  /** Strong: a weak one does not promise the same bytes (RFC 9110 section 8.8.1). */
  etag: string;
  /** In bytes; null as long as it is unknown. */
  total: number | null;
}

/** The version that an answer begins; null when it cannot be continued. */
export function versionOf(answer: Answer): Version | null {
  const etag = answer.header('etag');
  if (etag === null || !/^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag)) return null;
  // Ranges count encoded bytes, and nobody promises that the same bytes are encoded alike.
  if (answer.isEncoded || answer.header('accept-ranges')?.toLowerCase() === 'none') return null;
  return { etag, total: answer.contentLength };
}

/** The request for the rest: of this very version, or all of another (RFC 9110 section 13.1.5). */
export function rangeHeaders({ etag }: Version, from: number): Record<string, string> {
  return { range: `bytes=${from}-`, 'if-range': etag };
}

/**
 * Reads the range that a 206 continues.
 * @returns its end, exclusive, and the whole's length where that is known; null when it is not the part that was asked
 * for, of the version that is here.
 */
export function continuationOf(
  answer: Answer,
  { etag, total }: Version,
  from: number,
): { end: number; total: number | null } | null {
  const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(answer.header('content-range') ?? '');
  if (range === null || answer.isEncoded) return null;
  const [start, last] = [Number(range[1]), Number(range[2])];
  const stated = range[3] === '*' ? null : Number(range[3]);
  const whole = stated ?? total;
  const sameVersion = [etag, null].includes(answer.header('etag')) && (total === null || whole === total);
  if (!sameVersion || start !== from || (whole !== null && last >= whole)) return null;
  if (answer.contentLength !== null && answer.contentLength !== last + 1 - start) return null;
  return { end: last + 1, total: whole };
}

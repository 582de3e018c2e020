import { formatBytes } from '../output/progress.ts';
import type { Config } from './config.ts';

/** The bytes of an entry in a package and in its bundle, together: more than twice those of the default contract. */
const BYTES_PER_ENTRY = 2048;

/** The room that an export has in the work directory, and may need there. */
export interface Room {
  says: string;
  isShort: boolean;
}

/**
 * Reckons the room with so many bytes for each entry that the service states, for the largest streams that are on their
 * way at once. A period may need less.
 * @param free bytes.
 * @param counts of entries, one a stream; null where the service states none.
 */
export function reckonRoom(
  { workDirectory, source: { concurrency } }: Pick<Config, 'workDirectory' | 'source'>,
  free: number,
  counts: readonly (number | null)[],
): Room {
  const stated = counts.filter((count) => count !== null);
  const has = `${workDirectory} has ${formatBytes(free)} free`;
  if (counts.length === 0) return { says: `${has}; no stream in scope was listed`, isShort: false };
  if (stated.length === 0)
    return { says: `${has}; the service states no counts to tell how much is needed`, isShort: false };
  const largest = stated.toSorted((a, b) => b - a).slice(0, concurrency);
  const needed = largest.reduce((sum, count) => sum + count, 0) * BYTES_PER_ENTRY;
  const rule = `${BYTES_PER_ENTRY} bytes for each entry that the service states, ${concurrency} streams at a time`;
  return { says: `${has}; about ${formatBytes(needed)} may be needed (${rule})`, isShort: needed > free };
}

export const MORE_ROOM =
  'If that is too little, name a folder with more room with --work-directory or work_directory, or export fewer streams at a time with --concurrency.';

import { randomUUID } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import { isSystemError } from '../../core/errors.ts';
import type { BaitRead, BaitSign, PlantedBait } from '../state/notes.ts';
import { plainDigestOf } from './content.ts';
import { FilePlace } from './place.ts';
import { arm, baitFactsOf } from './planting.ts';

/** Result of inspecting planted bait. */
interface BaitLook {
  /** Bait as armed now; null if the planted file no longer exists. */
  planted: PlantedBait | null;
  read: BaitRead | null;
  /** Change since the sensor left the bait. */
  fault: { standing: 'gone' | 'replaced' | 'changed'; reason: string } | null;
}

/**
 * Inspects bait without opening it, and arms it again if necessary. A read moves only the access time; a moved ctime
 * shows a deliberate change.
 * @param sign by which a read was just noticed; null for none.
 */
export function lookAt(bait: PlantedBait, sign: BaitSign | null): BaitLook {
  try {
    using place = new FilePlace(bait.path);
    const seen = baitFactsOf(lstatSync(place.file, { bigint: true }));
    const isSame = (['dev', 'ino'] as const).every((fact) => seen[fact] === bait[fact]);
    if (!isSame) return lost('replaced', 'another file is in its place');
    const change = changeOf(bait, seen);
    const moved = wasRead(bait, seen);
    if (!moved && change === null && sign === null) return { planted: bait, read: null, fault: null };
    if (moved || change !== null) arm(place, Number(BigInt(seen.mtime_ns) / 1_000_000_000n));
    const planted = { ...bait, ...baitFactsOf(lstatSync(place.file, { bigint: true })) };
    const fault = change === null ? null : { standing: 'changed' as const, reason: change };
    if (!moved && sign === null) return { planted, read: null, fault };
    const read_at = moved ? new Date(Number(BigInt(seen.atime_ns) / 1_000_000n)) : new Date();
    const event = moved ? `atime:${seen.atime_ns}` : `inotify:${randomUUID()}`;
    const read = { bait_id: bait.bait_id, read_at: read_at.toISOString(), seen: sign ?? ('atime' as const), event };
    return { planted, read, fault };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ELOOP' || error.code === 'ENOTDIR') return lost('replaced', 'its path contains a link');
    if (error.code === 'ENOENT') return lost('gone', 'no file is there');
    throw error;
  }
}

function lost(standing: 'gone' | 'replaced', reason: string): BaitLook {
  return { planted: null, read: null, fault: { standing, reason } };
}

type Facts = ReturnType<typeof baitFactsOf>;

function changeOf(bait: PlantedBait, seen: Facts): string | null {
  if (seen.ctime_ns === bait.ctime_ns) return null;
  if (seen.size !== bait.size || seen.mtime_ns !== bait.mtime_ns) return 'it was written to, or its times were set';
  if (seen.mode !== bait.mode || seen.uid !== bait.uid || seen.gid !== bait.gid) return 'its mode or its owner changed';
  return 'its times or names were changed: a read may have been hidden';
}

/**
 * Reports whether the bait was read. `touch` moves the access time too, but sets it to the modification time or to an
 * old one.
 */
function wasRead(bait: PlantedBait, { atime_ns, mtime_ns }: Facts): boolean {
  const [accessed, armed] = [BigInt(atime_ns), BigInt(bait.ctime_ns)];
  // The kernel's clock for files may be late by one tick.
  return atime_ns !== bait.atime_ns && atime_ns !== mtime_ns && accessed >= armed - 10_000_000n;
}

/** Removes a file if it is the planted one. */
export function removeBait(bait: PlantedBait): { standing: 'removed' | 'left' | 'gone'; reason: string } {
  try {
    using place = new FilePlace(bait.path);
    lstatSync(place.file);
    if (!isOwn(place, bait))
      return { standing: 'left', reason: 'it is not what the sensor planted; it was left there' };
    rmSync(place.file);
    return { standing: 'removed', reason: 'it was asked for' };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return { standing: 'gone', reason: 'no file was there to be removed' };
    return { standing: 'left', reason: `it cannot be removed: ${error.code}` };
  }
}

function isOwn(place: FilePlace, { dev, ino, sha256 }: PlantedBait): boolean {
  const found = plainDigestOf(place.file);
  return found !== null && found.ino === `${dev}:${ino}` && found.sha256 === sha256;
}

import { hash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  lutimesSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isSystemError } from '../../core/errors.ts';
import type { WantedBait } from '../answers.ts';
import { toBytePath } from '../scan/bytes.ts';
import { isWithin, resolvePaths } from '../scan/roots.ts';
import type { PlantedBait } from '../state/notes.ts';
import { hasContent } from './content.ts';
import { FilePlace } from './place.ts';

/** Seconds by which the access time is set before the modification time. */
const ARMED_SECONDS = 1;
const WHY: Record<string, string> = {
  EEXIST: 'a file already exists there',
  ENOENT: 'its folder does not exist',
  ELOOP: 'its path contains a link',
  ENOTDIR: 'its path contains a link or a file',
  EPERM: 'the sensor cannot give a file to this owner',
  EACCES: 'the sensor may not write there',
  EROFS: 'the sensor may not write there: the file system is read-only, or the unit of the sensor makes it so',
};

/** Planted bait, or the reason that it was not planted. */
export type Planting = { planted: PlantedBait } | { planted: null; reason: string };

/**
 * Plants a file where none exists: writes it next to its place, and then links it there. Its times are those of its
 * folder, with an access time before the last change, which the first read moves (`relatime`). A trial read checks
 * that.
 * @param roots that are scanned.
 */
export function plantBait(bait: WantedBait & { content: string }, roots: readonly string[]): Planting {
  if (resolvePaths(roots).some((root) => isWithin(toBytePath(bait.path), root)))
    return { planted: null, reason: 'it is under a root, which is scanned' };
  try {
    using place = new FilePlace(bait.path);
    return { planted: plantAt(place, bait) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const code = error.code ?? 'an error';
    return { planted: null, reason: WHY[code] ?? `system error ${code}` };
  }
}

function plantAt(place: FilePlace, bait: WantedBait & { content: string }): PlantedBait {
  const folder = statSync(place.folder);
  // A crash may have left this file.
  const half = place.beside(`.${bait.bait_id}.tmp`);
  rmSync(half, { force: true });
  try {
    writeWhole(half, bait, folder);
    putInPlace(half, place, bait.content);
  } finally {
    rmSync(half, { force: true });
  }
  const written = Math.floor(folder.mtimeMs / 1000);
  arm(place, written);
  const before = lstatSync(place.file, { bigint: true });
  readFileSync(place.file);
  const isReadSeen = lstatSync(place.file, { bigint: true }).atimeNs !== before.atimeNs;
  arm(place, written);
  return {
    bait_id: bait.bait_id,
    path: bait.path,
    sha256: hash('sha256', bait.content, 'hex'),
    seen_by: isReadSeen ? ['atime'] : [],
    confirmed: false,
    ...baitFactsOf(lstatSync(place.file, { bigint: true })),
  };
}

/**
 * Links the file to its place. A crash before the sensor recorded the bait leaves the same file there, which is
 * accepted.
 */
function putInPlace(half: string, place: FilePlace, content: string): void {
  try {
    linkSync(half, place.file);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST' || !hasContent(place.file, content)) throw error;
  }
}

function writeWhole(half: string, { content, mode, uid, gid }: WantedBait & { content: string }, folder: Owner): void {
  const fd = openSync(half, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    writeFileSync(fd, content);
    fchownSync(fd, uid ?? folder.uid, gid ?? folder.gid);
    fchmodSync(fd, Number.parseInt(mode, 8));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

interface Owner {
  uid: number;
  gid: number;
}

/** Sets an access time that the next read moves. @param written seconds. */
export function arm(place: FilePlace, written: number): void {
  lutimesSync(place.file, written - ARMED_SECONDS, written);
}

/** Facts about a file that can be read without opening it. */
export function baitFactsOf({ dev, ino, size, mode, uid, gid, mtimeNs, ctimeNs, atimeNs }: BigIntStats) {
  return {
    dev: `${dev}`,
    ino: `${ino}`,
    size: `${size}`,
    mode: `${mode}`,
    uid: `${uid}`,
    gid: `${gid}`,
    mtime_ns: `${mtimeNs}`,
    ctime_ns: `${ctimeNs}`,
    atime_ns: `${atimeNs}`,
  };
}

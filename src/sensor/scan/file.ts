import { createHash, hash } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { isSystemError } from '../../core/errors.ts';
import type { EndpointLine, Ownership } from '../report/line.ts';
import { type BytePath, bytesOf, pathName } from './bytes.ts';
import type { ReadingPace } from './pace.ts';

/**
 * Maximum size of a file that is hashed. Any user can create a sparse file of 8 EiB, which would hold up the scan
 * beyond its interval.
 */
const LARGEST_FILE_BYTES = 256 * 2 ** 30;
const TRIES = 3;
const PIECE_BYTES = 256 * 1024;
/** Maximum number of digests remembered for hard links. */
const MOST_REMEMBERED = 20_000;
/** Flags that neither follow a link nor wait for a FIFO that has replaced the file. */
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/**
 * Error codes for a link (ELOOP), a socket (ENXIO), or a device without a driver (ENODEV) in place of a regular file.
 */
const NO_FILE = new Set(['ELOOP', 'ENXIO', 'ENODEV']);

/** Reads the files of one scan, one after another. */
export class FileReader {
  readonly #pace: ReadingPace;
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  /** Digests of files with several names, by device and inode. */
  readonly #linked = new Map<string, { stats: BigIntStats; sha256: string }>();
  #bytes = 0;

  constructor(pace: ReadingPace) {
    this.#pace = pace;
  }

  /** Number of bytes read. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the line of a regular file; null if something else is at its path.
   * @throws the system's error if the file cannot be opened or read.
   */
  async lineOf(path: BytePath): Promise<EndpointLine | null> {
    const name = pathName(path);
    let seen: BigIntStats | null = null;
    for (let tried = 0; tried < TRIES; tried++) {
      const fd = openFile(path);
      if (fd === null) return null;
      try {
        const before = fstatSync(fd, { bigint: true });
        if (!before.isFile()) return null;
        const size = Number(before.size);
        if (size > LARGEST_FILE_BYTES)
          return { ...name, type: 'unreadable', why: 'EFBIG', size, ...ownershipOf(before) };
        const sha256 = this.#remembered(before) ?? (await this.#digest(fd, size));
        const after = fstatSync(fd, { bigint: true });
        if (sha256 !== null && isUnchanged(before, after)) {
          this.#remember(after, sha256);
          return { ...name, type: 'file', sha256, size, ...ownershipOf(after) };
        }
        seen = after;
      } finally {
        closeSync(fd);
      }
    }
    return { ...name, type: 'unstable', why: 'changed', ...(seen === null ? {} : ownershipOf(seen)) };
  }

  /** Returns the SHA-256 of a file in hex; null if its length differs from the stated size. */
  async #digest(fd: number, size: number): Promise<string | null> {
    let got = await this.#read(fd);
    if (got === size && got < this.#piece.length) return hash('sha256', this.#piece.subarray(0, got), 'hex');
    const digest = createHash('sha256');
    let bytes = got;
    for (; got > 0 && bytes <= size; bytes += got) {
      digest.update(this.#piece.subarray(0, got));
      got = await this.#read(fd);
    }
    return bytes === size ? digest.digest('hex') : null;
  }

  async #read(fd: number): Promise<number> {
    const got = readSync(fd, this.#piece, 0, this.#piece.length, null);
    this.#bytes += got;
    const wait = this.#pace.took(got);
    if (wait !== undefined) await wait;
    return got;
  }

  #remembered(stats: BigIntStats): string | null {
    const known = stats.nlink > 1n ? this.#linked.get(inodeOf(stats)) : undefined;
    return known !== undefined && isUnchanged(known.stats, stats) ? known.sha256 : null;
  }

  #remember(stats: BigIntStats, sha256: string): void {
    if (stats.nlink > 1n && this.#linked.size < MOST_REMEMBERED) this.#linked.set(inodeOf(stats), { stats, sha256 });
  }
}

/** Opens a file; null if it is no regular file that can be opened. Leaves the access time unchanged if permitted. */
function openFile(path: BytePath): number | null {
  try {
    return openSync(bytesOf(path), READING | constants.O_NOATIME);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (NO_FILE.has(error.code ?? '')) return null;
    // O_NOATIME is permitted to root and the owner of the file only.
    if (error.code !== 'EPERM') throw error;
  }
  return openSync(bytesOf(path), READING);
}

function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/**
 * Reports whether a file is unchanged: a change of content, attributes or names moves the ctime, which no one can set.
 */
export function isUnchanged(before: BigIntStats, after: BigIntStats): boolean {
  return (['dev', 'ino', 'size', 'mtimeNs', 'ctimeNs'] as const).every((fact) => before[fact] === after[fact]);
}

const PERMISSIONS = 0o7777;

export function ownershipOf({ mode, uid, gid }: Stats | BigIntStats): Ownership {
  return { mode: (Number(mode) & PERMISSIONS).toString(8).padStart(4, '0'), uid: Number(uid), gid: Number(gid) };
}

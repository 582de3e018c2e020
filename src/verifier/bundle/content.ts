import { crc32 } from 'node:zlib';
import { messageOf } from '../../core/errors.ts';
import { type BundleFinding, DamagedFile } from './bundle-finding.ts';
import { LeftOver } from './container.ts';
import type { DirectoryEntry } from './directory.ts';
import type { BundleHolds } from './files.ts';
import { locateData } from './local.ts';
import type { Member, Zip } from './zip.ts';

export interface BundleLimits {
  /** Maximum uncompressed size of one file. */
  maxFileBytes: number;
  /**
   * Maximum ratio of uncompressed to compressed bytes for files above `RATIO_FLOOR`: a zip bomb costs its sender
   * nothing.
   */
  maxRatio: number;
  maxEntries: number;
  /** Kind of bag, which determines the files that it may have. */
  holds: BundleHolds;
}

export const DEFAULT_BUNDLE_LIMITS: BundleLimits = {
  maxFileBytes: 16 * 1024 ** 3,
  maxRatio: 250,
  maxEntries: 100_000,
  holds: 'stream',
};

/** Size below which a file is harmless, however well it compresses. */
const RATIO_FLOOR = 16 * 1024 * 1024;

const DEFLATED = 8;
const STORED = 0;

/**
 * Yields the bytes of one file in the bundle's zip, in blocks. They are proved to have the stated length and CRC-32,
 * which shows that the zip is intact; the manifest shows that the file is unaltered.
 *
 * @throws DamagedFile before the first block if the file must not be read at all (encrypted, a link, beyond the limits,
 * stated twice and differently), and after the last block if length or CRC-32 differ.
 */
export async function* contentOf(
  zip: Zip,
  member: Member,
  path: string,
  limits: BundleLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { entry } = member;
  const finding = findInType(member, path) ?? findInSize(member, path, limits);
  if (finding !== undefined) throw new DamagedFile(finding);
  const start = await locateData(zip, member, path);
  const blocks =
    entry.method === STORED ? zip.container.blocks(start, entry.compressedSize) : inflated(zip, entry, start, path);
  let bytes = 0;
  let checksum = 0;
  for await (const block of blocks) {
    bytes += block.length;
    // Checked before the block is handed on: a lie about the size ends here, not when the disk is full.
    if (bytes > entry.uncompressedSize) break;
    checksum = crc32(block, checksum);
    yield block;
  }
  if (bytes !== entry.uncompressedSize) {
    throw damaged(path, 'it is not of the length its zip states', entry.uncompressedSize, bytes);
  }
  if (checksum !== entry.crc32) throw damaged(path, 'its CRC-32 is not the one its zip states', entry.crc32, checksum);
}

async function* inflated(zip: Zip, entry: DirectoryEntry, start: number, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* zip.container.inflated(start, entry.compressedSize, entry.uncompressedSize);
  } catch (error) {
    const code = error instanceof LeftOver ? 'bundle/hidden-bytes' : 'bundle/unreadable';
    throw new DamagedFile({ code, path, message: `${path}: ${messageOf(error)}` }, error);
  }
}

const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;
const FOLDER = 0o040000;
const DOS_FOLDER = 0x10;
/** Flags of encryption and strong encryption (APPNOTE 4.4.4). */
const ENCRYPTED = 0x41;

/** Finds the reason why a member is no plain file or folder, by the central directory alone. */
export function findInType({ name, entry }: Member, path: string): BundleFinding | undefined {
  const isFolder = name.endsWith('/');
  // The upper half is the Unix mode (APPNOTE 4.4.15), zero if the writer knew none.
  const type = (entry.attributes >>> 16) & FILE_TYPE;
  if (type !== 0 && type !== (isFolder ? FOLDER : REGULAR_FILE)) {
    return { code: 'bundle/link', path, message: `${path} is a link or a special file, which no evidence is` };
  }
  if ((entry.flags & ENCRYPTED) !== 0)
    return { code: 'bundle/encrypted', path, message: `${path} is encrypted inside the zip` };
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    const message = `${path} is compressed by method ${entry.method}, which few programs read`;
    return { code: 'bundle/unreadable', path, message };
  }
  const holdsData = isFolder ? isFilled(entry) : (entry.attributes & DOS_FOLDER) !== 0;
  if (holdsData)
    return { code: 'bundle/inconsistent-zip', path, message: `${path} is stated to be both file and folder` };
  return undefined;
}

/** Reports whether a member has content. An empty file deflates to two bytes (RFC 1951, section 3.2.6). */
function isFilled({ uncompressedSize, compressedSize, method }: DirectoryEntry): boolean {
  return uncompressedSize > 0 || compressedSize > (method === DEFLATED ? 2 : 0);
}

function findInSize({ entry }: Member, path: string, limits: BundleLimits): BundleFinding | undefined {
  const { uncompressedSize, compressedSize } = entry;
  if (uncompressedSize > limits.maxFileBytes) {
    const message = `${path} states ${uncompressedSize} bytes, more than the limit of ${limits.maxFileBytes}`;
    return { code: 'bundle/too-large', path, message };
  }
  if (uncompressedSize > RATIO_FLOOR && uncompressedSize > compressedSize * limits.maxRatio) {
    const message = `${path} states that ${compressedSize} bytes inflate to ${uncompressedSize}, beyond the limit of ${limits.maxRatio}:1`;
    return { code: 'bundle/too-large', path, message };
  }
  return undefined;
}

function damaged(path: string, what: string, expected: number, actual: number): DamagedFile {
  const finding: BundleFinding = {
    code: 'bundle/unreadable',
    path,
    expected: String(expected),
    actual: String(actual),
    message: `${path}: ${what}`,
  };
  return new DamagedFile(finding);
}

import { type Entry, type LocalFileHeader, parseExtraFields } from 'yauzl';
import { messageOf } from '../../core/errors.ts';
import { type BundleFinding, type BundleFindingCode, DamagedFile } from './bundle-finding.ts';
import { readExactly } from './container.ts';
import type { Member, Zip } from './zip.ts';

const HAS_DESCRIPTOR = 0x8;
const ZIP64_FIELD = 0x0001;
const DESCRIPTOR_SIGNATURE = 0x08074b50;

/**
 * Holds what stands in front of and behind a file's data against the central directory. Programs differ in which of
 * the two they believe, so a zip in which they differ can show an auditor something else than it shows us.
 *
 * @returns where the file's data begins.
 * @throws DamagedFile when they differ, when files overlap, or when bytes lie between this file and the next.
 */
export async function locateData(zip: Zip, member: Member, path: string): Promise<number> {
  const { entry, end } = member;
  const refuse = (code: BundleFindingCode, what: string, cause?: unknown) => {
    const finding: BundleFinding = { code, path, message: `${path}: ${what}` };
    return new DamagedFile(finding, cause);
  };
  const header = await zip.file.readLocalFileHeaderPromise(entry).catch((error: unknown) => {
    throw refuse('bundle/inconsistent-zip', `its header in the zip cannot be read (${messageOf(error)})`, error);
  });
  const difference = headerDifference(entry, header);
  if (difference !== undefined) {
    throw refuse('bundle/inconsistent-zip', `the zip states its ${difference} twice, and differently`);
  }
  const dataEnd = header.fileDataStart + entry.compressedSize;
  if (dataEnd > end) throw refuse('bundle/inconsistent-zip', 'its data overlaps what follows it in the zip');
  const behind = end === dataEnd ? Buffer.alloc(0) : await readDescriptor(zip, dataEnd, end);
  if (behind === null) throw refuse('bundle/hidden-bytes', `${end - dataEnd} bytes after it belong to no file`);
  const needsDescriptor = (entry.generalPurposeBitFlag & HAS_DESCRIPTOR) !== 0;
  if (!needsDescriptor && behind.length > 0) throw refuse('bundle/hidden-bytes', 'bytes after it belong to no file');
  if (needsDescriptor && !isDescriptorOf(entry, behind)) {
    throw refuse('bundle/inconsistent-zip', 'the zip states its size or CRC-32 twice, and differently');
  }
  return header.fileDataStart;
}

/** APPNOTE 4.3.9: CRC-32 and sizes of 4 or, in zip64, 8 bytes; most programs put a signature before them. */
const DESCRIPTOR_LENGTHS = [12, 16, 20, 24];

async function readDescriptor(zip: Zip, start: number, end: number): Promise<Buffer | null> {
  return DESCRIPTOR_LENGTHS.includes(end - start) ? readExactly(zip.container, start, end - start) : null;
}

function isDescriptorOf(entry: Entry, bytes: Buffer): boolean {
  const hasSignature = bytes.length === 16 || bytes.length === 24;
  if (bytes.length < 12 || (hasSignature && bytes.readUInt32LE(0) !== DESCRIPTOR_SIGNATURE)) return false;
  const fields = hasSignature ? bytes.subarray(4) : bytes;
  const sizes =
    fields.length === 20
      ? [Number(fields.readBigUInt64LE(4)), Number(fields.readBigUInt64LE(12))]
      : [fields.readUInt32LE(4), fields.readUInt32LE(8)];
  return (
    fields.readUInt32LE(0) === entry.crc32 && sizes[0] === entry.compressedSize && sizes[1] === entry.uncompressedSize
  );
}

function headerDifference(entry: Entry, header: LocalFileHeader): string | undefined {
  const isZip64 = entry.extraFields.some((field) => field.id === ZIP64_FIELD);
  if (!header.fileName.equals(entry.fileNameRaw)) return 'name';
  if (header.generalPurposeBitFlag !== entry.generalPurposeBitFlag) return 'flags';
  if (header.compressionMethod !== entry.compressionMethod) return 'compression method';
  // A writer that streams learns only after the local header that it needs zip64.
  const version = header.versionNeededToExtract;
  if (version !== entry.versionNeededToExtract && !(isZip64 && version < entry.versionNeededToExtract))
    return 'version';
  if (header.lastModFileDate !== entry.lastModFileDate || header.lastModFileTime !== entry.lastModFileTime)
    return 'date';
  const stated = localSizes(header);
  if (stated === undefined) return 'size';
  const isLater = (entry.generalPurposeBitFlag & HAS_DESCRIPTOR) !== 0;
  const agrees = (local: number, central: number) => local === central || (isLater && local === 0);
  if (!agrees(header.crc32, entry.crc32)) return 'CRC-32';
  if (!agrees(stated.compressed, entry.compressedSize) || !agrees(stated.plain, entry.uncompressedSize)) return 'size';
  return undefined;
}

/** APPNOTE 4.5.3: in a local header the zip64 field holds both sizes, the plain one first. */
function localSizes(header: LocalFileHeader): { plain: number; compressed: number } | undefined {
  const short = { plain: header.uncompressedSize, compressed: header.compressedSize };
  if (short.plain !== 0xffffffff && short.compressed !== 0xffffffff) return short;
  const field = extraFieldsOf(header).find(({ id }) => id === ZIP64_FIELD);
  if (field === undefined) return short;
  if (field.data.length < 16) return undefined;
  return { plain: Number(field.data.readBigUInt64LE(0)), compressed: Number(field.data.readBigUInt64LE(8)) };
}

function extraFieldsOf(header: LocalFileHeader) {
  try {
    return parseExtraFields(header.extraField);
  } catch {
    return [];
  }
}

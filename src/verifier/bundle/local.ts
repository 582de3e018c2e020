import { areSameBytes } from '../../core/bytes.ts';
import { messageOf } from '../../core/errors.ts';
import { type BundleFinding, type BundleFindingCode, DamagedFile } from './bundle-finding.ts';
import { type Container, readExactly } from './container.ts';
import {
  type DirectoryEntry,
  type ExtraField,
  HAS_DESCRIPTOR,
  IN_ZIP64,
  LittleEndian,
  readExtraFields,
  ZIP64_FIELD,
} from './directory.ts';
import type { Member, Zip } from './zip.ts';

const DESCRIPTOR_SIGNATURE = 0x08074b50;

/**
 * Compares the headers before and after a file's data with the central directory. Programs differ in which of them they
 * trust, so a zip in which they differ can show an auditor something else than us.
 *
 * @returns the offset of the file's data.
 * @throws DamagedFile if they differ, if files overlap, or if bytes lie between this file and the next.
 */
export async function locateData(zip: Zip, member: Member, path: string): Promise<number> {
  const { entry, end } = member;
  const refuse = (code: BundleFindingCode, what: string, cause?: unknown) => {
    const finding: BundleFinding = { code, path, message: `${path}: ${what}` };
    return new DamagedFile(finding, cause);
  };
  const header = await readLocalHeader(zip.container, entry).catch((error: unknown) => {
    throw refuse('bundle/inconsistent-zip', `its header in the zip cannot be read (${messageOf(error)})`, error);
  });
  const difference = headerDifference(entry, header);
  if (difference !== undefined) {
    throw refuse('bundle/inconsistent-zip', `the zip states its ${difference} twice, and differently`);
  }
  const dataEnd = header.dataStart + entry.compressedSize;
  if (dataEnd > end) throw refuse('bundle/inconsistent-zip', 'its data overlaps what follows it in the zip');
  const descriptor = end === dataEnd ? new Uint8Array() : await readDescriptor(zip, dataEnd, end);
  if (descriptor === null) throw refuse('bundle/hidden-bytes', `${end - dataEnd} bytes after it belong to no file`);
  const needsDescriptor = (entry.flags & HAS_DESCRIPTOR) !== 0;
  if (!needsDescriptor && descriptor.length > 0)
    throw refuse('bundle/hidden-bytes', 'bytes after it belong to no file');
  if (needsDescriptor && !isDescriptorOf(entry, descriptor)) {
    throw refuse('bundle/inconsistent-zip', 'the zip states its size or CRC-32 twice, and differently');
  }
  return header.dataStart;
}

/**
 * Lengths of a data descriptor (APPNOTE 4.3.9): CRC-32 and sizes of 4 or, in zip64, 8 bytes, mostly after a signature.
 */
const DESCRIPTOR_LENGTHS = [12, 16, 20, 24];

async function readDescriptor(zip: Zip, start: number, end: number): Promise<Uint8Array | null> {
  return DESCRIPTOR_LENGTHS.includes(end - start) ? readExactly(zip.container, start, end - start) : null;
}

function isDescriptorOf(entry: DirectoryEntry, bytes: Uint8Array): boolean {
  const hasSignature = bytes.length === 16 || bytes.length === 24;
  if (bytes.length < 12 || (hasSignature && new LittleEndian(bytes).u32(0) !== DESCRIPTOR_SIGNATURE)) return false;
  const values = hasSignature ? bytes.subarray(4) : bytes;
  const fields = new LittleEndian(values);
  const sizes = values.length === 20 ? [fields.u64(4), fields.u64(12)] : [fields.u32(4), fields.u32(8)];
  return fields.u32(0) === entry.crc32 && sizes[0] === entry.compressedSize && sizes[1] === entry.uncompressedSize;
}

/** Facts in a local header that the directory states, too. */
interface LocalHeader
  extends Pick<
    DirectoryEntry,
    'version' | 'flags' | 'method' | 'modified' | 'crc32' | 'compressedSize' | 'uncompressedSize' | 'name'
  > {
  /** Empty if they cannot be read. */
  extraFields: ExtraField[];
  dataStart: number;
}

const HEADER_SIGNATURE = 0x04034b50;
/** 4.3.7: size of the fixed part. */
const HEADER_BYTES = 30;

async function readLocalHeader(container: Container, { start, compressedSize }: DirectoryEntry): Promise<LocalHeader> {
  const fixed = await readExactly(container, start, HEADER_BYTES);
  const fields = new LittleEndian(fixed ?? new Uint8Array(HEADER_BYTES));
  if (fields.u32(0) !== HEADER_SIGNATURE) throw new Error('there is none where it must be');
  const [nameLength, extraLength] = [fields.u16(26), fields.u16(28)];
  const dataStart = start + HEADER_BYTES + nameLength + extraLength;
  const variable = await readExactly(container, start + HEADER_BYTES, nameLength + extraLength);
  if (variable === null || dataStart + compressedSize > container.size)
    throw new Error('the zip ends before its data do');
  return {
    version: fields.u16(4),
    flags: fields.u16(6),
    method: fields.u16(8),
    modified: fields.u32(10),
    crc32: fields.u32(14),
    compressedSize: fields.u32(18),
    uncompressedSize: fields.u32(22),
    name: variable.subarray(0, nameLength),
    extraFields: extraFieldsIn(variable.subarray(nameLength)),
    dataStart,
  };
}

function headerDifference(entry: DirectoryEntry, header: LocalHeader): string | undefined {
  const isZip64 = entry.extraFields.some((field) => field.id === ZIP64_FIELD);
  if (!areSameBytes(header.name, entry.name)) return 'name';
  if (header.flags !== entry.flags) return 'flags';
  if (header.method !== entry.method) return 'compression method';
  // A streaming writer learns only after the local header that it needs zip64.
  if (header.version !== entry.version && !(isZip64 && header.version < entry.version)) return 'version';
  if (header.modified !== entry.modified) return 'date';
  const stated = localSizes(header);
  if (stated === undefined) return 'size';
  const isLater = (entry.flags & HAS_DESCRIPTOR) !== 0;
  const agrees = (local: number, central: number) => local === central || (isLater && local === 0);
  if (!agrees(header.crc32, entry.crc32)) return 'CRC-32';
  if (!agrees(stated.compressed, entry.compressedSize) || !agrees(stated.plain, entry.uncompressedSize)) return 'size';
  return undefined;
}

/** Returns the sizes in a local header, whose zip64 field holds both, the uncompressed one first (APPNOTE 4.5.3). */
function localSizes(header: LocalHeader): { plain: number; compressed: number } | undefined {
  const short = { plain: header.uncompressedSize, compressed: header.compressedSize };
  if (short.plain !== IN_ZIP64 && short.compressed !== IN_ZIP64) return short;
  const field = header.extraFields.find(({ id }) => id === ZIP64_FIELD);
  if (field === undefined) return short;
  if (field.data.length < 16) return undefined;
  const sizes = new LittleEndian(field.data);
  return { plain: sizes.u64(0), compressed: sizes.u64(8) };
}

function extraFieldsIn(bytes: Uint8Array): ExtraField[] {
  try {
    return readExtraFields(bytes);
  } catch {
    return [];
  }
}

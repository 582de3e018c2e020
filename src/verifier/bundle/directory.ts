/** Member as stated by the central directory. Section numbers are those of PKWARE's APPNOTE. */
// Over ten members: one record of the format.
export interface DirectoryEntry {
  /** 4.4.3: version needed to extract. */
  version: number;
  /** 4.4.4: general purpose bit flag. */
  flags: number;
  /** 4.4.5: compression method. */
  method: number;
  /** 4.4.6: date and time in MS-DOS format. */
  modified: number;
  crc32: number;
  compressedSize: number;
  uncompressedSize: number;
  /** 4.4.15: external file attributes. */
  attributes: number;
  /** Offset of its local header. */
  start: number;
  /** Name in any bytes. */
  name: Uint8Array;
  extraFields: ExtraField[];
  commentLength: number;
}

/** 4.5.1: extensible data field. */
export interface ExtraField {
  id: number;
  data: Uint8Array;
}

export const HAS_DESCRIPTOR = 0x8;
export const ZIP64_FIELD = 0x0001;
/** 4.5.3: value of a 32-bit field whose number is in the zip64 field instead. */
export const IN_ZIP64 = 0xffffffff;

const SIGNATURE = 0x02014b50;
/** 4.3.12: size of the fixed part. */
const HEADER_BYTES = 46;

/**
 * Reads a central directory (4.3.12) from all of its bytes.
 * @throws Error unless they are exactly `count` entries.
 */
export function readDirectory(bytes: Uint8Array, count: number): DirectoryEntry[] {
  const entries: DirectoryEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (entries.length === count) throw new Error('its directory is longer than it states');
    const [entry, length] = readEntry(bytes.subarray(at));
    entries.push(entry);
    at += length;
  }
  if (entries.length < count) throw new Error('its directory is shorter than it states');
  return entries;
}

/** Reads the first entry, and returns it with its length. */
function readEntry(bytes: Uint8Array): [entry: DirectoryEntry, length: number] {
  if (bytes.length < HEADER_BYTES) throw new Error('its directory is longer than it states');
  const fields = new LittleEndian(bytes);
  if (fields.u32(0) !== SIGNATURE) throw new Error('its directory holds what is no entry');
  const [nameLength, extraLength, commentLength] = [fields.u16(28), fields.u16(30), fields.u16(32)];
  const extraStart = HEADER_BYTES + nameLength;
  const length = extraStart + extraLength + commentLength;
  if (bytes.length < length) throw new Error('its directory is longer than it states');
  const extraFields = readExtraFields(bytes.subarray(extraStart, extraStart + extraLength));
  const entry = {
    version: fields.u16(6),
    flags: fields.u16(8),
    method: fields.u16(10),
    modified: fields.u32(12),
    crc32: fields.u32(16),
    attributes: fields.u32(38),
    name: bytes.subarray(HEADER_BYTES, extraStart),
    extraFields,
    commentLength,
    ...placeOf(fields, extraFields),
  };
  return [entry, length];
}

/**
 * Reads sizes and offset. The zip64 field (4.5.3) holds, in this order, those whose 32-bit field is filled with ones.
 */
function placeOf(
  fields: LittleEndian,
  extraFields: readonly ExtraField[],
): Pick<DirectoryEntry, 'uncompressedSize' | 'compressedSize' | 'start'> {
  const long = extraFields.find(({ id }) => id === ZIP64_FIELD)?.data;
  let at = 0;
  const read = (short: number): number => {
    if (short !== IN_ZIP64 || long === undefined) return short;
    if (at + 8 > long.length) throw new Error('one of its zip64 fields is too short');
    at += 8;
    return new LittleEndian(long).u64(at - 8);
  };
  const uncompressedSize = read(fields.u32(24));
  const compressedSize = read(fields.u32(20));
  return { uncompressedSize, compressedSize, start: read(fields.u32(42)) };
}

/**
 * Reads extra fields (4.5.1): two bytes of id, two of length, then the data. Up to three trailing bytes are padding.
 */
export function readExtraFields(bytes: Uint8Array): ExtraField[] {
  const fields: ExtraField[] = [];
  const numbers = new LittleEndian(bytes);
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + numbers.u16(at + 2);
    if (end > bytes.length) throw new Error('one of its extra fields is longer than all of them');
    fields.push({ id: numbers.u16(at), data: bytes.subarray(at + 4, end) });
    at = end;
  }
  return fields;
}

/** Reads numbers as a zip writes them, by the offset of their first byte. */
export class LittleEndian {
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u16(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  /** Returns an inexact number above 2^53, which is beyond the end of any file. */
  u64(at: number): number {
    return Number(this.#view.getBigUint64(at, true));
  }
}

import { type Container, readExactly } from './container.ts';
import { LittleEndian } from './little-endian.ts';

/** The end of a zip as it states its central directory; section numbers are those of PKWARE's APPNOTE. */
export interface EndRecord {
  directoryStart: number;
  directoryBytes: number;
  entries: number;
  /** The offset where the end records begin, so where the directory must end. */
  start: number;
  /** Statements of the end records against themselves or each other. */
  flaws: string[];
}

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const LOCATOR_BYTES = 20;
const LOCATOR_SIGNATURE = 0x07064b50;
const END64_BYTES = 56;
const END64_SIGNATURE = 0x06064b50;

/**
 * Reads the end records, which must be the last bytes: a comment, or records that contradict each other, are where two
 * programs begin to see two different archives in one file.
 *
 * @throws Error when the records are not the last bytes of the file.
 */
export async function readEndRecord(container: Container): Promise<EndRecord> {
  const { size } = container;
  const fields = await readFields(container, size - END_BYTES, END_BYTES);
  if (fields === null || fields.u32(0) !== END_SIGNATURE || fields.u16(20) !== 0) {
    throw new Error('it does not end with its end record, so it has a comment or bytes were appended');
  }
  const start = size - END_BYTES;
  const record = {
    directoryStart: fields.u32(16),
    directoryBytes: fields.u32(12),
    entries: fields.u16(10),
    start,
    flaws: [] as string[],
  };
  // 4.4.19 to 4.4.21: number of this disk, of the directory's disk, entries on this disk.
  if (fields.u16(4) !== 0 || fields.u16(6) !== 0) record.flaws.push('it claims to be one disk of several');
  if (fields.u16(8) !== record.entries) record.flaws.push('its two counts of entries differ');
  const locator = await readFields(container, start - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator === null || locator.u32(0) !== LOCATOR_SIGNATURE) return record;
  return readEnd64Record(container, start - LOCATOR_BYTES, locator, record);
}

/** 4.3.14 and 4.3.15: the zip64 record overrides fields of the other that are filled with ones. */
async function readEnd64Record(
  container: Container,
  locatorStart: number,
  locator: LittleEndian,
  short: EndRecord,
): Promise<EndRecord> {
  const start = locatorStart - END64_BYTES;
  const fields = await readFields(container, start, END64_BYTES);
  if (fields === null || fields.u32(0) !== END64_SIGNATURE || locator.u64(8) !== start) {
    throw new Error('its zip64 end record is not where it must be');
  }
  const flaws = [...short.flaws];
  const record = {
    directoryStart: fields.u64(48),
    directoryBytes: fields.u64(40),
    entries: fields.u64(32),
    start,
    flaws,
  };
  const disks = [locator.u32(4), locator.u32(16) - 1, fields.u32(16), fields.u32(20)];
  if (disks.some((disk) => disk !== 0)) flaws.push('it claims to be one disk of several');
  if (fields.u64(4) !== END64_BYTES - 12) flaws.push('its zip64 end record states another length');
  if (fields.u64(24) !== fields.u64(32)) flaws.push('its two counts of entries differ');
  const agree =
    isSameOrFilled(short.entries, record.entries, 0xffff) &&
    isSameOrFilled(short.directoryBytes, record.directoryBytes, 0xffffffff) &&
    isSameOrFilled(short.directoryStart, record.directoryStart, 0xffffffff);
  if (!agree) flaws.push('its two end records differ');
  return record;
}

async function readFields(container: Container, start: number, length: number): Promise<LittleEndian | null> {
  const bytes = await readExactly(container, start, length);
  return bytes === null ? null : new LittleEndian(bytes);
}

function isSameOrFilled(short: number, long: number, filled: number): boolean {
  return short === filled || short === long;
}

import { type Container, readExactly } from './container.ts';

/** What the end of a zip states about its central directory; section numbers are those of PKWARE's APPNOTE. */
export interface EndRecord {
  directoryStart: number;
  directoryBytes: number;
  entries: number;
  /** Where the end records begin, so where the directory must end. */
  start: number;
  /** What the end records state against themselves or each other. */
  flaws: string[];
}

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const LOCATOR_BYTES = 20;
const LOCATOR_SIGNATURE = 0x07064b50;
const END64_BYTES = 56;
const END64_SIGNATURE = 0x06064b50;

/**
 * Reads the end records a second time, after yauzl, which looks only at the fields it needs: a comment, or records
 * that contradict each other, are where two programs begin to see two different archives in one file.
 *
 * @throws Error when the records are not the last bytes of the file.
 */
export async function readEndRecord(container: Container): Promise<EndRecord> {
  const { size } = container;
  const bytes = await readExactly(container, size - END_BYTES, END_BYTES);
  if (bytes === null || bytes.readUInt32LE(0) !== END_SIGNATURE || bytes.readUInt16LE(20) !== 0) {
    throw new Error('it does not end with its end record, so it has a comment or bytes were appended');
  }
  const start = size - END_BYTES;
  const record = {
    directoryStart: bytes.readUInt32LE(16),
    directoryBytes: bytes.readUInt32LE(12),
    entries: bytes.readUInt16LE(10),
    start,
    flaws: [] as string[],
  };
  // 4.4.19 to 4.4.21: number of this disk, of the directory's disk, entries on this disk.
  if (bytes.readUInt16LE(4) !== 0 || bytes.readUInt16LE(6) !== 0)
    record.flaws.push('it claims to be one disk of several');
  if (bytes.readUInt16LE(8) !== record.entries) record.flaws.push('its two counts of entries differ');
  const locator = await readExactly(container, start - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator === null || locator.readUInt32LE(0) !== LOCATOR_SIGNATURE) return record;
  return readEnd64Record(container, start - LOCATOR_BYTES, locator, record);
}

/** 4.3.14 and 4.3.15: the zip64 record overrides fields of the other that are filled with ones. */
async function readEnd64Record(
  container: Container,
  locatorStart: number,
  locator: Buffer,
  short: EndRecord,
): Promise<EndRecord> {
  const start = locatorStart - END64_BYTES;
  const bytes = await readExactly(container, start, END64_BYTES);
  if (bytes === null || bytes.readUInt32LE(0) !== END64_SIGNATURE || locator.readBigUInt64LE(8) !== BigInt(start)) {
    throw new Error('its zip64 end record is not where it must be');
  }
  const flaws = [...short.flaws];
  const record = {
    directoryStart: Number(bytes.readBigUInt64LE(48)),
    directoryBytes: Number(bytes.readBigUInt64LE(40)),
    entries: Number(bytes.readBigUInt64LE(32)),
    start,
    flaws,
  };
  const disks = [locator.readUInt32LE(4), locator.readUInt32LE(16) - 1, bytes.readUInt32LE(16), bytes.readUInt32LE(20)];
  if (disks.some((disk) => disk !== 0)) flaws.push('it claims to be one disk of several');
  if (bytes.readBigUInt64LE(4) !== BigInt(END64_BYTES - 12)) flaws.push('its zip64 end record states another length');
  if (bytes.readBigUInt64LE(24) !== bytes.readBigUInt64LE(32)) flaws.push('its two counts of entries differ');
  const agree =
    isSameOrFilled(short.entries, record.entries, 0xffff) &&
    isSameOrFilled(short.directoryBytes, record.directoryBytes, 0xffffffff) &&
    isSameOrFilled(short.directoryStart, record.directoryStart, 0xffffffff);
  if (!agree) flaws.push('its two end records differ');
  return record;
}

function isSameOrFilled(short: number, long: number, filled: number): boolean {
  return short === filled || short === long;
}

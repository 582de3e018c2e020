import { areSameBytes, utf8Bytes, utf8Text } from '../../core/bytes.ts';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { type Container, readExactly } from './container.ts';
import { type DirectoryEntry, LittleEndian, readDirectory } from './directory.ts';

/** Entry of the central directory, before any of its content was read. */
export interface Member {
  /** Name as stored, decoded; ends with a slash for a folder. */
  name: string;
  /** Reason not to trust `name` as text, if any. */
  nameFlaw: string | undefined;
  /**
   * Offset at which the next member or the central directory begins: the bytes before it belong to this member or to
   * none.
   */
  end: number;
  entry: DirectoryEntry;
}

export interface Zip {
  container: Container;
  end: EndRecord;
  /** Members in the order in which they lie in the file. */
  members: Member[];
}

/**
 * Lists the central directory without reading content.
 *
 * @throws EvidenceError `unreadable` if it is no zip or has more than `maxEntries` entries.
 */
export async function listZip(container: Container, maxEntries: number): Promise<Zip> {
  try {
    return await listMembers(container, maxEntries);
  } catch (error) {
    throw new EvidenceError('unreadable', `${container.name} is not a complete zip file: ${messageOf(error)}`, {
      nextStep: 'Fetch the bundle again and compare its length and SHA-256 with the run record.',
      cause: error,
    });
  }
}

/** Maximum size of a directory, held in memory: some 100,000 entries with names of ordinary length. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;

async function listMembers(container: Container, maxEntries: number): Promise<Zip> {
  const end = await readEndRecord(container);
  if (end.entries > maxEntries || end.directoryBytes > MAX_DIRECTORY_BYTES)
    throw new Error(`it states ${end.entries} entries in ${end.directoryBytes} bytes, more than is allowed`);
  const bytes = await readExactly(container, end.directoryStart, end.directoryBytes);
  if (bytes === null) throw new Error('its directory is not where it must be');
  const entries = readDirectory(bytes, end.entries).sort((one, other) => one.start - other.start);
  const members = entries.map((entry, index) => ({
    ...nameOf(entry),
    end: entries[index + 1]?.start ?? end.directoryStart,
    entry,
  }));
  return { container, end, members };
}

/** Id of Info-ZIP's Unicode Path field, which gives an entry a second name that some programs prefer. */
const UNICODE_PATH = 0x7075;

const UTF8_NAME = 0x800;

function nameOf({ name: bytes, extraFields, flags }: DirectoryEntry): { name: string; nameFlaw: string | undefined } {
  const name = utf8Text(bytes);
  const second = extraFields.find((field) => field.id === UNICODE_PATH);
  if (second !== undefined && !areSameBytes(second.data.subarray(5), bytes)) {
    return { name, nameFlaw: 'the zip gives the file two different names' };
  }
  const isAscii = bytes.every((byte) => byte < 0x80);
  if (!isAscii && (flags & UTF8_NAME) === 0) {
    return { name, nameFlaw: 'the name is neither ASCII nor marked as UTF-8' };
  }
  if (!areSameBytes(utf8Bytes(name), bytes)) return { name, nameFlaw: 'the name is not valid UTF-8' };
  return { name, nameFlaw: undefined };
}

/** End of a zip, which states its central directory. Section numbers are those of PKWARE's APPNOTE. */
interface EndRecord {
  directoryStart: number;
  directoryBytes: number;
  entries: number;
  /** Offset of the end records, where the directory must end. */
  start: number;
  /** Contradictions within or between the end records. */
  flaws: string[];
}

const END_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const LOCATOR_BYTES = 20;
const LOCATOR_SIGNATURE = 0x07064b50;
const END64_BYTES = 56;
const END64_SIGNATURE = 0x06064b50;

/**
 * Reads the end records, which must be the last bytes: with a comment, or with records that contradict each other, two
 * programs can see two different archives in one file.
 *
 * @throws Error if the records are not the last bytes of the file.
 */
async function readEndRecord(container: Container): Promise<EndRecord> {
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
  // 4.4.19 to 4.4.21: number of this disk, of the directory's disk, and of entries on this disk.
  if (fields.u16(4) !== 0 || fields.u16(6) !== 0) record.flaws.push('it claims to be one disk of several');
  if (fields.u16(8) !== record.entries) record.flaws.push('its two counts of entries differ');
  const locator = await readFields(container, start - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator === null || locator.u32(0) !== LOCATOR_SIGNATURE) return record;
  return readEnd64Record(container, start - LOCATOR_BYTES, locator, record);
}

/** Reads the zip64 record (4.3.14 and 4.3.15), which overrides fields of the other record that are filled with ones. */
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

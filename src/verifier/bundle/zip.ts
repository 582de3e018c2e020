import { areSameBytes, utf8Bytes, utf8Text } from '../../core/bytes.ts';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { type Container, readExactly } from './container.ts';
import { type DirectoryEntry, readDirectory } from './directory.ts';
import { type EndRecord, readEndRecord } from './end.ts';

/** One entry of the central directory, before anything of its content was read. */
export interface Member {
  /** As stored, decoded; with a trailing slash for a folder. */
  name: string;
  /** The reason not to trust `name` as text, if there is one. */
  nameFlaw: string | undefined;
  /**
   * The offset where the next member, or the central directory, begins: the bytes between belong to this one or to
   * none.
   */
  end: number;
  entry: DirectoryEntry;
}

export interface Zip {
  container: Container;
  end: EndRecord;
  /** In the order in which they lie in the file. */
  members: Member[];
}

/**
 * Lists the central directory; no content is read.
 *
 * @throws EvidenceError `unreadable` when it is no zip or has more than `maxEntries` entries.
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

/** Some 100,000 entries with names of ordinary length: the listing is held in memory. */
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

/** Info-ZIP's Unicode Path field gives an entry a second name, which some programs prefer to the first. */
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

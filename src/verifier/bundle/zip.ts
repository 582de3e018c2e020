import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { Container } from './container.ts';
import { type EndRecord, readEndRecord } from './end.ts';

/** One entry of the central directory, before anything of its content was read. */
export interface Member {
  /** As stored, decoded; with a trailing slash for a folder. */
  name: string;
  /** Why `name` is not to be trusted as text, if so. */
  nameFlaw: string | undefined;
  /** Where the next member, or the central directory, begins: what lies between belongs to this one or to none. */
  end: number;
  entry: Entry;
}

export interface Zip {
  container: Container;
  file: ZipFile;
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
    return await readDirectory(container, maxEntries);
  } catch (error) {
    throw new EvidenceError('unreadable', `${container.name} is not a complete zip file: ${messageOf(error)}`, {
      nextStep: 'Fetch the bundle again and compare its length and SHA-256 with the run record.',
      cause: error,
    });
  }
}

/** APPNOTE 4.3.12: the fixed part of a directory entry. */
const DIRECTORY_HEADER_BYTES = 46;

/** Some 100,000 entries with names of ordinary length: the listing is held in memory. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;

async function readDirectory(container: Container, maxEntries: number): Promise<Zip> {
  // Names are decoded here, because yauzl quietly turns a backslash into a slash and stops at the first bad name.
  const file = await fromRandomAccessReaderPromise(new ContainerReader(container), container.size, {
    autoClose: false,
    decodeStrings: false,
  });
  const end = await readEndRecord(container);
  if (file.entryCount > maxEntries || end.directoryBytes > MAX_DIRECTORY_BYTES) {
    throw new Error(`it states ${file.entryCount} entries in ${end.directoryBytes} bytes, more than is allowed`);
  }
  const entries: Entry[] = [];
  let directoryBytes = 0;
  for await (const entry of file.eachEntry()) {
    directoryBytes += DIRECTORY_HEADER_BYTES + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
    if (directoryBytes > end.directoryBytes) throw new Error('its directory is longer than it states');
    entries.push(entry);
  }
  if (file.entryCount !== end.entries || directoryBytes !== end.directoryBytes) {
    throw new Error('its directory is shorter than it states');
  }
  entries.sort((one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader);
  const members = entries.map((entry, index) => ({
    ...nameOf(entry),
    end: entries[index + 1]?.relativeOffsetOfLocalHeader ?? end.directoryStart,
    entry,
  }));
  return { container, file, end, members };
}

/** Info-ZIP's Unicode Path field gives an entry a second name, which some programs prefer to the first. */
const UNICODE_PATH = 0x7075;

const UTF8_NAME = 0x800;

function nameOf(entry: Entry): { name: string; nameFlaw: string | undefined } {
  const name = entry.fileNameRaw.toString('utf8');
  const second = entry.extraFields.find((field) => field.id === UNICODE_PATH);
  if (second !== undefined && !second.data.subarray(5).equals(entry.fileNameRaw)) {
    return { name, nameFlaw: 'the zip gives the file two different names' };
  }
  const isAscii = entry.fileNameRaw.every((byte) => byte < 0x80);
  if (!isAscii && (entry.generalPurposeBitFlag & UTF8_NAME) === 0) {
    return { name, nameFlaw: 'the name is neither ASCII nor marked as UTF-8' };
  }
  if (!Buffer.from(name).equals(entry.fileNameRaw)) return { name, nameFlaw: 'the name is not valid UTF-8' };
  return { name, nameFlaw: undefined };
}

/**
 * Reads at any offset a hostile zip may name. yauzl's own reader passes it to `fs.read`, which throws for an offset
 * beyond 2^63 inside a callback where nobody can catch it.
 */
class ContainerReader extends RandomAccessReader {
  readonly #container: Container;

  constructor(container: Container) {
    super();
    this.#container = container;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#container.read(position, length).then(
      (bytes) => {
        buffer.set(bytes, offset);
        setImmediate(callback, null, bytes.length);
      },
      (error: Error) => setImmediate(callback, error),
    );
  }
}

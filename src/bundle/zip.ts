import { type FileHandle, open } from 'node:fs/promises';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { EvidenceError, messageOf } from '../errors.ts';
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
  handle: FileHandle;
  file: ZipFile;
  end: EndRecord;
  /** In the order in which they lie in the file. */
  members: Member[];
}

/**
 * Opens the container and lists its central directory; no content is read.
 *
 * @throws EvidenceError `not-found` when there is no such file, `unreadable` when it is no zip or has more than
 * `maxEntries` entries.
 */
export async function openZip(path: string, maxEntries: number): Promise<Zip> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    const code = error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'not-found' : 'unreadable';
    throw new EvidenceError(code, `cannot open the bundle ${path}: ${error.message}`, { cause: error });
  });
  try {
    return await listZip(handle, maxEntries);
  } catch (error) {
    await handle.close();
    throw new EvidenceError('unreadable', `${path} is not a complete zip file: ${messageOf(error)}`, {
      nextStep: 'Fetch the bundle again and compare its length and SHA-256 with the run record.',
      cause: error,
    });
  }
}

/** APPNOTE 4.3.12: the fixed part of a directory entry. */
const DIRECTORY_HEADER_BYTES = 46;

/** Some 100,000 entries with names of ordinary length: the listing is held in memory. */
const MAX_DIRECTORY_BYTES = 16 * 1024 * 1024;

async function listZip(handle: FileHandle, maxEntries: number): Promise<Zip> {
  const { size } = await handle.stat();
  // Names are decoded here, because yauzl quietly turns a backslash into a slash and stops at the first bad name.
  const file = await fromRandomAccessReaderPromise(new HandleReader(handle), size, {
    autoClose: false,
    decodeStrings: false,
  });
  const end = await readEndRecord(handle, size);
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
  return { handle, file, end, members };
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
class HandleReader extends RandomAccessReader {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    super();
    this.#handle = handle;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#handle.read(buffer, offset, length, position).then(
      ({ bytesRead }) => setImmediate(callback, null, bytesRead),
      (error: Error) => setImmediate(callback, error),
    );
  }
}

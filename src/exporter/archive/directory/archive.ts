import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, realpath, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { EvidenceError } from '../../../core/errors.ts';
import { type Expected, measure, type StoredObject, type Unlisted } from '../../../verifier/archive/archive.ts';
import { hasCode, isOfFile } from '../../../verifier/archive/failure.ts';
import { checkKey } from '../../../verifier/archive/key.ts';
import type { RunWarning } from '../../../verifier/records/record.ts';
import type { Archive, ObjectSource, PutResult } from '../archive.ts';
import { conflict, differenceTo, expectedContent } from '../content.ts';
import { lookupFailure, readFailure, storeFailure } from './failure.ts';
import { checkRoot, hasFolders, linked, makeFolders, makeRoot, noFolder, syncFolder } from './folder.ts';
import { closeIncoming, openIncoming, sweepIncoming } from './incoming.ts';
import { listFolder } from './walk.ts';

/**
 * Opens an archive in a folder. With `create`, the folder is created if necessary, and unfinished files of dead
 * processes are removed; otherwise nothing changes on disk until something is stored.
 *
 * @throws EvidenceError `not-found` if the folder does not exist and `create` is false; `archive` otherwise.
 */
export async function openDirectoryArchive(path: string, options: { create: boolean }): Promise<Archive> {
  try {
    if (options.create) {
      await checkRoot(path);
      await makeRoot(path);
    }
    const root = await realpath(path);
    if (!(await lstat(root)).isDirectory()) {
      throw noFolder(path);
    }
    if (options.create) await sweepIncoming(root, Date.now());
    return new DirectoryArchive(root);
  } catch (error) {
    if (options.create || !hasCode(error, 'ENOENT', 'ENOTDIR'))
      throw (options.create ? storeFailure : lookupFailure)(error, `open the archive at ${path}`);
    throw new EvidenceError('not-found', `there is no archive at ${path}`, {
      nextStep: 'Check the path; the first export to it creates the archive.',
      cause: error,
    });
  }
}

/** Mode of objects, which are never written again. */
const OBJECT_MODE = 0o444;

const BLOCK = 256 * 1024;

// Over ten members: it is an `Archive`.
class DirectoryArchive implements Archive {
  readonly url: string;
  readonly locks = null;
  readonly links = null;
  readonly #root: string;
  readonly #durable = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    this.url = root;
  }

  async put(key: string, source: ObjectSource, expected: Expected): Promise<PutResult> {
    checkKey(key);
    try {
      if ((await this.#find(key)) !== null) return await this.#takeExisting(key, expected);
      const incoming = await this.#receive(source, expected);
      try {
        return await this.#name(incoming, key, expected);
      } finally {
        // Not synchronized: if the name reappears after a crash, it is swept like any leftover.
        await unlink(incoming);
      }
    } catch (error) {
      throw storeFailure(error, `store ${key} in the archive ${this.#root}`);
    }
  }

  async limitations(): Promise<readonly RunWarning[]> {
    return [];
  }

  async read(key: string): Promise<Readable> {
    const handle = await this.#open(key);
    return handle.createReadStream({ highWaterMark: BLOCK });
  }

  async readBytes(key: string, maxBytes: number): Promise<Uint8Array> {
    await using handle = await this.#open(key);
    try {
      const { size } = await handle.stat();
      if (size > maxBytes) throw new EvidenceError('unreadable', `${key} has more than ${maxBytes} bytes`);
      return await handle.readFile();
    } catch (error) {
      throw readFailure(error, key);
    }
  }

  async stat(key: string): Promise<{ bytes: number } | null> {
    checkKey(key);
    const stats = await this.#find(key).catch((error: unknown) => {
      throw isOfFile(error)
        ? readFailure(error, key)
        : lookupFailure(error, `look up ${key} in the archive ${this.#root}`);
    });
    return stats === null ? null : { bytes: stats.size };
  }

  async *list(prefix: string, onUnlisted?: Unlisted): AsyncGenerator<StoredObject> {
    try {
      yield* listFolder(this.#root, prefix, onUnlisted);
    } catch (error) {
      throw lookupFailure(error, 'list the archive');
    }
  }

  /** Returns the object's own path: a local archive needs no copy. */
  async fetchFile(key: string): Promise<string> {
    const handle = await this.#open(key);
    await handle.close();
    return this.#pathOf(key);
  }

  async close(): Promise<void> {
    await closeIncoming(this.#root).catch((error: unknown) => {
      throw storeFailure(error, 'close the archive');
    });
  }

  /** Writes content durably under a name that is no key, and reads it back. */
  async #receive(source: ObjectSource, expected: Expected): Promise<string> {
    const { path, handle } = await openIncoming(this.#root);
    try {
      try {
        for await (const block of expectedContent(source, expected)) await handle.appendFile(block);
        await handle.chmod(OBJECT_MODE);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await checkReadBack(path, expected);
      return path;
    } catch (error) {
      await unlink(path);
      throw error;
    }
  }

  /**
   * Gives received content its key if the key is free: link(2) does both atomically. There is no fallback for a file
   * system without hard links. Writing to the key directly leaves partial objects after a crash, and rename(2) replaces
   * what another run has just archived.
   */
  async #name(incoming: string, key: string, expected: Expected): Promise<PutResult> {
    const path = this.#pathOf(key);
    await makeFolders(this.#root, key.split('/').slice(0, -1), this.#durable);
    try {
      await link(incoming, path);
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return this.#takeExisting(key, expected);
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV')) throw error;
      throw new EvidenceError('archive', `could not store ${key}: ${dirname(path)} does not support hard links`, {
        nextStep: 'Put the archive on a file system with hard links (not FAT or exFAT), or on S3.',
        cause: error,
      });
    }
    await syncFolder(dirname(path));
    return { state: 'created' };
  }

  /** Returns the result of a `put` whose key exists. */
  async #takeExisting(key: string, expected: Expected): Promise<PutResult> {
    if ((await this.#find(key)) === null) {
      throw new EvidenceError('archive', `could not store ${key}: the archive has a folder of that name`);
    }
    const handle = await this.#open(key);
    const actual = await measure(handle.createReadStream({ highWaterMark: BLOCK }));
    if (differenceTo(expected, actual) !== undefined) throw conflict(key, expected, actual);
    // The process that created the object may have died before synchronizing the folder.
    await syncFolder(dirname(this.#pathOf(key)));
    return { state: 'existing' };
  }

  async #open(key: string): Promise<FileHandle> {
    if ((await this.stat(key)) === null) throw this.#missing(key);
    // O_NONBLOCK keeps a named pipe that has replaced the file from blocking the open.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    return open(this.#pathOf(key), flags).catch((error: unknown) => {
      throw readFailure(error, key);
    });
  }

  /** Returns null if nothing, or only a folder, has that name. */
  async #find(key: string): Promise<Stats | null> {
    if (!(await hasFolders(this.#root, key.split('/').slice(0, -1)))) return null;
    const path = this.#pathOf(key);
    const stats = await lstat(path).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    });
    if (stats === null || stats.isDirectory()) return null;
    if (stats.isSymbolicLink()) throw linked(path);
    if (!stats.isFile())
      throw new EvidenceError('unreadable', `${path} is not a file, so it is not an object of the archive`);
    return stats;
  }

  #pathOf(key: string): string {
    return join(this.#root, key);
  }

  #missing(key: string): EvidenceError {
    return new EvidenceError('not-found', `the archive at ${this.#root} has no ${key}`);
  }
}

async function checkReadBack(path: string, expected: Expected): Promise<void> {
  const handle = await open(path, 'r');
  const difference = differenceTo(expected, await measure(handle.createReadStream({ highWaterMark: BLOCK })));
  if (difference === undefined) return;
  throw new EvidenceError('archive', `the disk returned ${difference}; the content was not archived`, {
    nextStep: { before: 'Check the disk for errors before using it for evidence, then' },
  });
}

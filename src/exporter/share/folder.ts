import { createWriteStream } from 'node:fs';
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StreamingSha256 } from '../../core/digest.ts';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { inParallel } from '../../core/parallel.ts';
import type { SharedObject } from '../../verifier/records/hold-log.ts';
import type { Archive } from '../archive/archive.ts';
import { differs } from './selection.ts';

const AT_ONCE = 4;
/** Mode 0700: the operator decides who else may read the folder. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** New folder for the shared files. Existing files are never overwritten. */
export class ShareFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** @throws EvidenceError `usage` if the path exists or cannot be created. */
  static async make(path: string): Promise<ShareFolder> {
    try {
      await mkdir(dirname(path), { recursive: true });
      await mkdir(path, { mode: FOLDER_MODE });
      return new ShareFolder(path);
    } catch (error) {
      const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
      throw isThere ? exists(path) : noPlace(path, `cannot be made: ${messageOf(error)}`, error);
    }
  }

  /** @throws EvidenceError `usage` if the path exists. */
  static async checkNew(path: string): Promise<void> {
    if (await lstat(path).catch(() => null)) throw exists(path);
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    await this.#guard(() => writeFile(join(this.path, name), bytes, { flag: 'wx', mode: FILE_MODE }));
  }

  /**
   * Copies objects to files named by their keys, and checks each digest on the way. @throws EvidenceError `unreadable`.
   */
  async copy(archive: Archive, objects: readonly SharedObject[], signal: AbortSignal): Promise<void> {
    await inParallel(objects, AT_ONCE, async ({ key, bytes, sha256 }) => {
      signal.throwIfAborted();
      const target = join(this.path, key);
      const source = await archive.read(key);
      const digest = new StreamingSha256();
      await this.#guard(async () => {
        await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
        const file = createWriteStream(target, { flags: 'wx', mode: FILE_MODE });
        await pipeline(source, (blocks) => digest.through(blocks), file, { signal });
      });
      const actual = digest.finish();
      if (actual.sha256 !== sha256)
        throw differs(key, `its SHA-256 is ${actual.sha256} (${actual.bytes} bytes, ${bytes} recorded)`);
    });
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof EvidenceError || (error as Error).name === 'AbortError') throw error;
      throw new EvidenceError('archive', `could not write to ${this.path}: ${messageOf(error)}`, {
        nextStep: 'Check that disk, then run the same command again.',
        cause: error,
      });
    }
  }
}

function exists(path: string): EvidenceError {
  return noPlace(path, 'exists and is never overwritten');
}

function noPlace(path: string, why: string, cause?: unknown): EvidenceError {
  return new EvidenceError('usage', `${path} ${why}; nothing was shared`, {
    nextStep: 'Name another folder with --out.',
    cause,
  });
}

import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Linux's O_PATH, which Node.js does not define. It opens folders that may be traversed but not read. */
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Place for a file in a folder that was reached without links. Renaming a folder on the way, or replacing it by a link,
 * does not redirect the sensor: `/proc/self/fd` refers to the folder that was opened.
 */
export class FilePlace implements Disposable {
  readonly #fd: number;
  readonly #name: string;

  /** @throws the system's error: `ELOOP` or `ENOTDIR` for a link on the way, `ENOENT` for a missing folder. */
  constructor(path: string) {
    let fd = openSync('/', FOLDER);
    for (const name of dirname(path).split('/').filter(Boolean)) {
      try {
        const next = openSync(`/proc/self/fd/${fd}/${name}`, FOLDER);
        closeSync(fd);
        fd = next;
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    }
    this.#fd = fd;
    this.#name = basename(path);
  }

  /** Path of the folder itself. */
  get folder(): string {
    return `/proc/self/fd/${this.#fd}/.`;
  }

  /** Path of the file. */
  get file(): string {
    return this.beside(this.#name);
  }

  /** Path of another file in the same folder. */
  beside(name: string): string {
    return `/proc/self/fd/${this.#fd}/${name}`;
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

import { closeSync, constants, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** O_PATH of Linux, which Node.js does not name: a folder that may be passed through need not be readable. */
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * A place for a file, in a folder that no link led to. Whoever renames a folder on the way, or puts a link in its
 * place, does not lead the sensor elsewhere: `/proc/self/fd` names the folder that was opened.
 */
export class FilePlace implements Disposable {
  readonly #fd: number;
  readonly #name: string;

  /**
   * @throws the error of the system: `ELOOP` or `ENOTDIR` for a link on the way, `ENOENT` for a folder that is not
   * there.
   */
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

  /** The path of the folder itself. */
  get folder(): string {
    return `/proc/self/fd/${this.#fd}/.`;
  }

  /** The path of the file. */
  get file(): string {
    return this.beside(this.#name);
  }

  /** The path of another file in the same folder. */
  beside(name: string): string {
    return `/proc/self/fd/${this.#fd}/${name}`;
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

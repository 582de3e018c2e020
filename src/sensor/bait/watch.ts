import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { BaitSign } from '../state/notes.ts';

const PROGRAM = 'inotifywait';
/**
 * `access` reports a `read`, and `close_nowrite` the end of a read by `mmap`. A `read` moves the access time before it
 * is reported.
 */
const ARGUMENTS = [
  '--monitor',
  '--event',
  'access',
  '--event',
  'close_nowrite',
  '--format',
  '%e %w',
  '--fromfile',
  '-',
];

/** Reports whether inotifywait, which notices reads immediately, is installed. Node.js cannot watch for reads. */
export function canWatch(path = process.env['PATH'] ?? ''): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, PROGRAM), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Reports reads of files immediately, if `inotifywait` is installed. */
export class BaitWatch implements Disposable {
  readonly #onRead: (path: string, sign: BaitSign | null) => Promise<unknown>;
  #child: ChildProcess | null = null;
  #paths: readonly string[] = [];
  readonly #end = () => void this.#child?.kill();

  /**
   * @param onRead receives the path and the sign of the read; null if the file's times must show whether it was read.
   */
  constructor(onRead: (path: string, sign: BaitSign | null) => Promise<unknown>) {
    this.#onRead = onRead;
    process.on('exit', this.#end);
  }

  /** Watches these files from now on. @returns when the watch is established. */
  async follow(paths: readonly string[]): Promise<void> {
    if (this.#child !== null && paths.join('\n') === this.#paths.join('\n')) return;
    this.#child?.kill();
    this.#child = null;
    this.#paths = paths;
    if (paths.length === 0 || !canWatch()) return;
    const child = spawn(PROGRAM, ARGUMENTS, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    // Passed on stdin, so that the paths do not appear in process lists.
    child.stdin.on('error', () => {}).end(`${paths.join('\n')}\n`);
    createInterface(child.stdout).on('line', (line) => this.#tell(line));
    await new Promise<void>((resolve) => {
      createInterface(child.stderr).on('line', (line) => line.startsWith('Watches established') && resolve());
      child
        .on('error', () => resolve())
        .on('exit', () => {
          // A file is gone or the program failed; the next round starts a new watch.
          if (this.#child === child) this.#child = null;
          resolve();
        });
    });
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#end);
    this.#end();
    this.#child = null;
  }

  #tell(line: string): void {
    const at = line.indexOf(' ');
    void this.#onRead(line.slice(at + 1), line.slice(0, at).includes('ACCESS') ? 'inotify' : null);
  }
}

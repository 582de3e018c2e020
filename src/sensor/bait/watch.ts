import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { BaitSign } from '../state/notes.ts';

const PROGRAM = 'inotifywait';
/** A read by `read`, and the end of one by `mmap`: the first moves the time of the last access before it is told of. */
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

/** True if the program that sees a read at once is installed; Node.js itself is not told of reads. */
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

/** Tells at once when one of some files is read, where `inotifywait` is there. */
export class BaitWatch implements Disposable {
  readonly #onRead: (path: string, sign: BaitSign | null) => Promise<unknown>;
  #child: ChildProcess | null = null;
  #paths: readonly string[] = [];
  readonly #end = () => void this.#child?.kill();

  /** @param onRead is told a path, and by what the read was seen; null where the times of the file have to tell. */
  constructor(onRead: (path: string, sign: BaitSign | null) => Promise<unknown>) {
    this.#onRead = onRead;
    process.on('exit', this.#end);
  }

  /** Watches these files from now on. @returns once they are watched. */
  async follow(paths: readonly string[]): Promise<void> {
    if (this.#child !== null && paths.join('\n') === this.#paths.join('\n')) return;
    this.#child?.kill();
    this.#child = null;
    this.#paths = paths;
    if (paths.length === 0 || !canWatch()) return;
    const child = spawn(PROGRAM, ARGUMENTS, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    // The paths are in no list of processes.
    child.stdin.on('error', () => {}).end(`${paths.join('\n')}\n`);
    createInterface(child.stdout).on('line', (line) => this.#tell(line));
    await new Promise<void>((resolve) => {
      createInterface(child.stderr).on('line', (line) => line.startsWith('Watches established') && resolve());
      child
        .on('error', () => resolve())
        .on('exit', () => {
          // One of them is gone, or the program failed: the next round begins anew.
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

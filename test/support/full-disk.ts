import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './process.ts';

/** A disk that can be filled: a separate file system in memory. */
export class FullDisk {
  readonly path: string;

  /** @param megabytes size of the disk. */
  static async mount(megabytes: number): Promise<FullDisk> {
    const path = mkdtempSync(join(tmpdir(), 'disk-'));
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
    return new FullDisk(path);
  }

  private constructor(path: string) {
    this.path = path;
  }

  fill(): void {
    fillDisk(this.path);
  }

  /** Frees the space again. */
  free(): void {
    rmSync(fillerIn(this.path), { force: true });
  }

  async unmount(): Promise<void> {
    await run('umount', ['--lazy', this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

function fillerIn(path: string): string {
  return join(path, 'filler');
}

/** Uses up all space on a disk. */
export function fillDisk(path: string): void {
  const file = openSync(fillerIn(path), 'a');
  try {
    for (const bytes of [2 ** 20, 2 ** 12, 1]) fillWith(file, Buffer.alloc(bytes));
  } finally {
    closeSync(file);
  }
}

function fillWith(file: number, block: Buffer): void {
  try {
    while (writeSync(file, block) === block.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

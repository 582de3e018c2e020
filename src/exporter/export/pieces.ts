import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toBlocks } from '../../core/chunks.ts';
import { StreamingSha256 } from '../../core/digest.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import type { Runtime } from './context.ts';

/** Document rendered in pieces, because it would be megabytes as a whole. */
export type Pieces = Iterable<string | Uint8Array>;

const BLOCK = 256 * 1024;

/**
 * Writes pieces to a file, which is removed when `use` has ended.
 * @param name of the file; must be unique in the work directory.
 */
export async function withFile<T>(
  { workDirectory }: Pick<Runtime, 'workDirectory'>,
  name: string,
  pieces: Pieces,
  use: (file: string, content: Expected) => Promise<T>,
): Promise<T> {
  const file = join(workDirectory, name);
  try {
    const digest = new StreamingSha256();
    await writeFile(file, digest.through(toBlocks(pieces, BLOCK)));
    return await use(file, digest.finish());
  } finally {
    await rm(file, { force: true });
  }
}

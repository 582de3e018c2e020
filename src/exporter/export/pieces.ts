import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toBlocks } from '../../core/chunks.ts';
import { StreamingSha256 } from '../../core/digest.ts';
import type { Expected } from '../../verifier/archive/archive.ts';
import type { Runtime } from './context.ts';

/** A document that is made bit by bit, because all of it would be megabytes. */
export type Pieces = Iterable<string | Uint8Array>;

const BLOCK = 256 * 1024;

/**
 * Puts pieces together in a file, which is there as long as `use` takes.
 * @param name of the file, and of nothing else in the work directory.
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

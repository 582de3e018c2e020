import { shellWord } from '../../core/shell.ts';
import type { ReadableArchive } from '../../verifier/archive/archive.ts';

/** Returns the command that finds everything wrong with an archive. */
export function verifyCommand({ url }: Pick<ReadableArchive, 'url'>): string {
  return `evidence verify ${shellWord(url)}`;
}

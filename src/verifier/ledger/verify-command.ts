import { shellWord } from '../../core/shell.ts';
import type { ReadableArchive } from '../archive/archive.ts';

/** The command that finds out all that is wrong with an archive. */
export function verifyCommand({ url }: Pick<ReadableArchive, 'url'>): string {
  return `evidence verify ${shellWord(url)}`;
}

import { shellWord } from '../../core/shell.ts';
import type { Archive } from '../archive/archive.ts';

/** The command that finds out all that is wrong with an archive. */
export function verifyCommand({ url }: Pick<Archive, 'url'>): string {
  return `evidence verify ${shellWord(url)}`;
}

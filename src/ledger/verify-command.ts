import type { Archive } from '../archive/archive.ts';
import { shellWord } from '../encoding/shell.ts';

/** The command that finds out all that is wrong with an archive. */
export function verifyCommand({ url }: Pick<Archive, 'url'>): string {
  return `evidence verify ${shellWord(url)}`;
}

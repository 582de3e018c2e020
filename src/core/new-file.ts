import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EvidenceError, messageOf } from './errors.ts';

/**
 * Writes a new file, and the folders above it.
 * @throws EvidenceError `usage` with `nextStep` if the file cannot be written or exists.
 */
export function writeNewFile(path: string, text: string, nextStep: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    throw new EvidenceError('usage', `${path} cannot be written: ${messageOf(error)}`, { nextStep, cause: error });
  }
}

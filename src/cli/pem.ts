import { readFileSync } from 'node:fs';
import { EvidenceError } from '../errors.ts';

/** @param setting as the user knows it. @throws EvidenceError `config` when there is no such file. */
export function readPem(setting: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new EvidenceError('config', `the file of ${setting}, ${path}, cannot be read`, { cause: error });
  }
}

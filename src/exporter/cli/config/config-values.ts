import { resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { CLAIMS, type ClaimName } from '../../../verifier/claims/claim.ts';
import { listGivenFolder, readGivenText } from './given-file.ts';

/** File given by a flag or the configuration. */
export interface NamedFile {
  /** Path as given. */
  given: string;
  path: string;
}

/** Reports whether the text is the name of a framework: a file has a slash or a dot. */
export function isFrameworkName(name: string): boolean {
  return /^[A-Za-z0-9-]+$/.test(name);
}

/** Time span as the user gave it. */
export interface Duration {
  given: string;
  milliseconds: number;
}

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };
/** Maximum time span, within the range of timers and longer than any export. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/** @param place of the value, for errors. @throws EvidenceError `usage`. */
export function parseDuration(given: string, place: string): Duration {
  const [, count, unit = ''] = /^(\d{1,9})([smh])$/.exec(given) ?? [];
  const milliseconds = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (milliseconds > 0 && milliseconds <= LONGEST_MS) return { given, milliseconds };
  throw new EvidenceError(
    'usage',
    `${place} is not a time in seconds, minutes or hours of up to seven days: "${given}"`,
    {
      nextStep: 'Write a time such as 90s, 45m or 6h.',
    },
  );
}

export function checkConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 64) return concurrency;
  throw new EvidenceError('usage', '--concurrency must be a whole number from 1 to 64');
}

export function checkClaims(names: readonly string[]): ClaimName[] {
  const claims: ClaimName[] = [];
  if (names.length === 0) throw new EvidenceError('usage', '--require names no claim');
  for (const name of names.flatMap((list) => list.split(','))) {
    const claim = CLAIMS.find((known) => known === name);
    if (claim === undefined)
      throw new EvidenceError('usage', `"${name}" is not a claim`, {
        nextStep: `The claims are ${CLAIMS.join(', ')}.`,
      });
    claims.push(claim);
  }
  return claims;
}

export function parseSealKeys(pairs: readonly string[], directory: string): Map<string, NamedFile> {
  const files = new Map<string, NamedFile>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    // The message omits the value, which may be the key itself.
    if (at < 1)
      throw new EvidenceError('usage', '--seal-key is not ID=FILE', {
        nextStep: 'Give the key id that entries use, and the file with the key: --seal-key k1=k1.key.',
      });
    const id = pair.slice(0, at);
    if (files.has(id)) throw new EvidenceError('usage', `--seal-key gives two files for the key "${id}"`);
    files.set(id, named(pair.slice(at + 1), directory));
  }
  return files;
}

/**
 * Returns the files of a folder by key id, which is the file name, as `evidence-platform seal-keys write` creates them.
 */
export function sealKeysIn(folder: string): Map<string, NamedFile> {
  const names = listGivenFolder('the seal keys (verify.seal_keys)', folder);
  return new Map(names.map((name) => [name, named(name, folder)]));
}

export function named(given: string, folder: string): NamedFile {
  return { given, path: resolve(folder, given) };
}

/** @param name of the secret. @param place variable or configuration key that specifies the file, for errors. */
export function readSecret(path: string, name: string, place: string): string {
  const text = readGivenText(`${name} (${place})`, path).trim();
  if (text !== '') return text;
  throw new EvidenceError('config', `the file of ${name} (${place}), ${path}, is empty`, {
    nextStep: 'Write the value to the file.',
  });
}

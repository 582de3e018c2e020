import { readFile } from 'node:fs/promises';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { TimestampAuthority } from './exchange.ts';

export interface AuthoritySettings {
  /** External authority; null for the development authority. */
  tsaUrl?: string | null;
  /** PEM file of the roots to which its certificate must lead; null for any authority. */
  tsaRoots?: string | null;
}

/**
 * Opens the authority that anchors checkpoints.
 * @param folder of the development authority.
 * @throws EvidenceError `config`
 */
export async function openAuthority(
  { tsaUrl = null, tsaRoots = null }: AuthoritySettings,
  folder: string,
  clock: () => Date,
): Promise<TimestampAuthority> {
  if (tsaUrl === null) return (await import('./authority.ts')).openDevelopmentAuthority(folder, clock);
  const { readRoots } = await import('../../core/timestamp/roots.ts');
  const roots = tsaRoots === null ? [] : readRoots(await readPem(tsaRoots), tsaRoots);
  return (await import('./remote.ts')).remoteAuthority(tsaUrl, { roots, clock });
}

function readPem(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new EvidenceError('config', `${path}, the file of tsa_roots, cannot be read: ${messageOf(cause)}`, { cause });
  });
}

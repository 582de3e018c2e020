import type { TimestampAuthority } from './exchange.ts';

/**
 * Opens the authority that anchors checkpoints.
 * @param tsaUrl of an external authority; null for the development authority.
 * @param folder of the development authority.
 */
export async function openAuthority(tsaUrl: string | null, folder: string): Promise<TimestampAuthority> {
  if (tsaUrl === null) return (await import('./authority.ts')).openDevelopmentAuthority(folder);
  return (await import('./remote.ts')).remoteAuthority(tsaUrl);
}

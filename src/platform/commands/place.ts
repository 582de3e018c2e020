import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';
import type { PlatformConfig, PlatformFlags } from '../config.ts';
import { DomainError, sayRefusal } from '../errors.ts';
import type { Parts } from '../parts.ts';

/** Options that specify where a platform stores its data. */
export const placeOptions = {
  config: { describe: 'Settings file (YAML)' },
  data: { describe: 'Folder with the keys and the SQLite database' },
  postgres: { describe: 'PostgreSQL database instead of SQLite: postgres://USER@HOST:PORT/DATABASE' },
} as const;

/** @throws EvidenceError `config` as `readPlatformConfig`. */
export async function readPlace(flags: PlatformFlags): Promise<PlatformConfig> {
  const { readPlatformConfig } = await import('../config.ts');
  return readPlatformConfig(flags, process.env, process.cwd());
}

/**
 * Runs a command on the place that the flags specify.
 * @throws EvidenceError as `openPlace`, and `usage` if the service refuses.
 */
export async function inPlace<T>(
  flags: PlatformFlags,
  work: (parts: Parts, config: PlatformConfig) => Promise<T>,
): Promise<T> {
  const { withParts } = await import('../parts.ts');
  const config = await readPlace(flags);
  try {
    return await withParts(config, (parts) => work(parts, config));
  } catch (error) {
    if (error instanceof DomainError) throw new EvidenceError('usage', sayRefusal(error), { cause: error });
    throw error;
  }
}

import process from 'node:process';
import { type PlatformConfig, type PlatformFlags, readPlatformConfig } from '../config.ts';

/** The options that say where a platform keeps what it has. */
export const placeOptions = {
  config: { type: 'string', requiresArg: true, describe: 'A file with the settings (YAML)' },
  data: { type: 'string', requiresArg: true, describe: 'The folder with the keys, and with the database of SQLite' },
  postgres: {
    type: 'string',
    requiresArg: true,
    describe: 'A PostgreSQL database in the place of SQLite: postgres://USER@HOST:PORT/DATABASE',
  },
} as const;

/** @throws EvidenceError `config` as `readPlatformConfig`. */
export function readPlace(flags: PlatformFlags): PlatformConfig {
  return readPlatformConfig(flags, process.env, process.cwd());
}

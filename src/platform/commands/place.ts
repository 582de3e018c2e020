import process from 'node:process';
import type { Argv, CommandModule } from 'yargs';
import { EvidenceError } from '../../core/errors.ts';
import type { PlatformConfig, PlatformFlags } from '../config.ts';
import { DomainError, sayRefusal } from '../errors.ts';
import type { Parts } from '../parts.ts';

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
export async function readPlace(flags: PlatformFlags): Promise<PlatformConfig> {
  const { readPlatformConfig } = await import('../config.ts');
  return readPlatformConfig(flags, process.env, process.cwd());
}

/**
 * Runs a command on what flags name.
 * @throws EvidenceError as `openPlace`, and `usage` where the service would refuse.
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

/** A command whose work is done by others below it. @param demand said to whoever names none of them. */
export function commandGroup(
  { command, describe, demand }: { command: string; describe: string; demand: string },
  commandsOf: (args: Argv) => Argv,
): CommandModule {
  return {
    command,
    describe,
    builder: (args) => commandsOf(args).demandCommand(1, demand),
    // yargs wants a handler; `demandCommand` never lets it be reached.
    handler: () => undefined,
  };
}

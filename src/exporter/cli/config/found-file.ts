import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import type { FileConfig } from './config-file.ts';
import { readGivenText } from './given-file.ts';

export const CONFIG_FILE = 'evidence.yaml';

/** A configuration file that was read. */
export interface Found {
  file: FileConfig;
  /** The folder that its paths are relative to. */
  folder: string;
  /** As it was named; null for none. */
  given: string | null;
}

/** @param fallback what is read, if it is there, where no file is named; null for nothing. */
export async function readConfigFile(
  file: string | undefined,
  directory: string,
  fallback: string | null,
): Promise<Found> {
  const given = file ?? fallback;
  const nothing = { file: {}, folder: directory, given: null };
  if (given === null) return nothing;
  const path = resolve(directory, given);
  let text: string;
  try {
    text = readGivenText('the configuration', path);
  } catch (error) {
    const isAbsent = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    if (file === undefined && isAbsent) return refuseOtherName(directory) ?? nothing;
    throw error;
  }
  // Half of the time that a command takes to start: many are started where there is no file.
  const { parseConfigFile } = await import('./config-file.ts');
  return { file: parseConfigFile(text, path), folder: dirname(path), given };
}

/** @throws EvidenceError `config` where a configuration lies under a name that is not looked for. */
function refuseOtherName(directory: string): null {
  if (!existsSync(resolve(directory, OTHER_NAME))) return null;
  throw new EvidenceError('config', `${OTHER_NAME} is there, and is not read: the configuration is ${CONFIG_FILE}`, {
    nextStep: `Rename it, or name it with --config ${OTHER_NAME}.`,
  });
}

const OTHER_NAME = 'evidence.yml';

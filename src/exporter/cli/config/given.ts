import { resolve } from 'node:path';
import { readSecret } from './config-values.ts';
import type { Found } from './given-file.ts';

/** Settings that command-line flags may replace. */
// Over ten members: each is a flag of the command line.
export interface ConfigFlags {
  config?: string | undefined;
  auditUrl?: string | undefined;
  contract?: string | undefined;
  archive?: string | undefined;
  endpoint?: string | undefined;
  concurrency?: number | undefined;
  require?: readonly string[] | undefined;
  acceptUnhashed?: readonly string[] | undefined;
  sealKey?: readonly string[] | undefined;
  timestampRoots?: string | undefined;
  stampRoots?: string | undefined;
  publicKey?: readonly string[] | undefined;
  workDirectory?: string | undefined;
  deadline?: string | undefined;
}

/** Sources of a value. */
export interface ConfigGiven extends Pick<Found, 'file' | 'folder'> {
  flags: ConfigFlags;
  environment: NodeJS.ProcessEnv;
  /** Folder that paths of flags and of the environment are relative to. */
  directory: string;
}

/** Resolves a path of the configuration file. */
export function inFolder({ folder }: ConfigGiven, path: string | undefined): string | null {
  return path === undefined ? null : resolve(folder, path);
}

/** Resolves a path of a flag or of the environment. */
export function fromCommand({ directory }: ConfigGiven, path: string | undefined): string | null {
  return path === undefined ? null : resolve(directory, path);
}

/** Secret, and the place in the configuration that specifies its file. */
export interface GivenSecret {
  name: string;
  place: string;
  file: string | undefined;
}

/**
 * Reads the text of a secret from its variable, from the file that another variable specifies, or from the file in the
 * configuration.
 * @param fileVariable specifies the file; the variable of the text has the same name without `_FILE`.
 */
export function readGivenSecret(
  from: ConfigGiven,
  fileVariable: `${string}_FILE`,
  { name, place, file }: GivenSecret,
): string | null {
  const text = from.environment[textVariableOf(fileVariable)];
  if (text !== undefined) return text.trim();
  const ofEnvironment = fromCommand(from, from.environment[fileVariable]);
  if (ofEnvironment !== null) return readSecret(ofEnvironment, name, fileVariable);
  const ofFile = inFolder(from, file);
  return ofFile === null ? null : readSecret(ofFile, name, place);
}

export function textVariableOf(fileVariable: `${string}_FILE`): string {
  return fileVariable.slice(0, -'_FILE'.length);
}

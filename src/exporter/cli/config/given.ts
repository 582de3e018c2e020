import { resolve } from 'node:path';
import type { Found } from './given-file.ts';

/** Settings that the flags of a command may replace. */
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
  /** Paths of flags and of the environment are from here. */
  directory: string;
}

/** A path of the configuration file. */
export function inFolder({ folder }: ConfigGiven, path: string | undefined): string | null {
  return path === undefined ? null : resolve(folder, path);
}

/** A path of a flag, or of the environment. */
export function fromCommand({ directory }: ConfigGiven, path: string | undefined): string | null {
  return path === undefined ? null : resolve(directory, path);
}

import { readSecret } from './config-values.ts';
import { type ConfigGiven, fromCommand, inFolder } from './given.ts';

/** A secret, and where the configuration names its file. */
export interface GivenSecret {
  name: string;
  place: string;
  file: string | undefined;
}

/**
 * The text of a secret: that of a variable, of the file that another variable names, or of that of the configuration.
 * @param text of the variable. @param file of the variable of the same name with `_FILE` after it, as `[name, path]`.
 */
export function readGivenSecret(
  from: ConfigGiven,
  text: string | undefined,
  [variable, path]: [variable: string, path: string | undefined],
  { name, place, file }: GivenSecret,
): string | null {
  if (text !== undefined) return text.trim();
  const ofEnvironment = fromCommand(from, path);
  if (ofEnvironment !== null) return readSecret(ofEnvironment, name, variable);
  const ofFile = inFolder(from, file);
  return ofFile === null ? null : readSecret(ofFile, name, place);
}

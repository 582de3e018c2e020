import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { type NamedFile, named, parseSealKeys, readSecret, sealKeysIn } from './config-values.ts';
import { CONFIG_FILE, type Found, readConfigFile } from './found-file.ts';
import { type ConfigFlags, type ConfigGiven, fromCommand, inFolder } from './given.ts';
import { givenWords, refuseMisplaced, secretsIn, secretsOf } from './secrets.ts';
import {
  type ArchiveConfig,
  type ReportConfig,
  type SignConfig,
  type SourceConfig,
  toArchiveConfig,
  toReportConfig,
  toSignConfig,
  toSourceConfig,
  toVerifyConfig,
  type VerifyConfig,
} from './sections.ts';

/** What the configuration comes to, in the sections of its file. */
export interface Config {
  /** The configuration file, as it was named; null where none was read. */
  configFile: string | null;
  source: SourceConfig;
  verify: VerifyConfig;
  sign: SignConfig;
  archive: ArchiveConfig;
  report: ReportConfig;
  /** In which a command makes a folder for what is on its way into the archive or out of it. */
  workDirectory: string;
}

/**
 * The configuration of whoever exports and keeps an archive: the file, then the environment, then the flags. What
 * comes later replaces what it says of the same thing, and adds nothing to it. The file is evidence.yaml of the folder
 * that they work in, unless another one is named.
 * @throws EvidenceError `config` naming file, line and column, and what was probably meant.
 */
export async function loadConfig(
  flags: ConfigFlags,
  environment: NodeJS.ProcessEnv,
  directory: string,
): Promise<Config> {
  const found = await readConfigFile(flags.config ?? environment['EVIDENCE_CONFIG'], directory, CONFIG_FILE);
  return toConfig(found, flags, environment, directory);
}

/**
 * The same of whoever judges what somebody else may have made: no file but one that is named, and no key of a service.
 * @throws EvidenceError as `loadConfig` does.
 */
export async function loadNamedConfig(
  flags: ConfigFlags,
  environment: NodeJS.ProcessEnv,
  directory: string,
): Promise<Config> {
  const { EVIDENCE_API_KEY: _key, EVIDENCE_API_KEY_FILE: _keyFile, ...others } = environment;
  const { file, ...found } = await readConfigFile(flags.config ?? environment['EVIDENCE_CONFIG'], directory, null);
  const { source: _source, ...ofReader } = file;
  return toConfig({ ...found, file: ofReader }, flags, others, directory);
}

function toConfig(
  { file, folder, given }: Found,
  flags: ConfigFlags,
  environment: NodeJS.ProcessEnv,
  directory: string,
): Config {
  const from = { file, folder, flags, environment, directory };
  const apiKey = readApiKey(from);
  const sealKeyFiles = toSealKeys(from);
  const passphraseFile = inFolder(from, file.sign?.passphrase_file);
  refuseMisplaced(givenWords(flags, environment, file), [
    ...secretsOf(environment),
    ...(apiKey === null ? [] : [{ name: 'the API key', text: apiKey }]),
    ...[...sealKeyFiles].flatMap(([id, { path }]) => secretsIn(`the seal key "${id}"`, path)),
    ...(passphraseFile === null ? [] : secretsIn('the passphrase of the signing key', passphraseFile)),
  ]);
  return {
    configFile: given,
    source: { ...toSourceConfig(from), apiKey },
    verify: { ...toVerifyConfig(from), sealKeyFiles },
    sign: { ...toSignConfig(from), passphraseFile },
    archive: toArchiveConfig(from),
    report: toReportConfig(from),
    workDirectory: fromCommand(from, flags.workDirectory) ?? inFolder(from, file.work_directory) ?? tmpdir(),
  };
}

function readApiKey(from: ConfigGiven): string | null {
  const { environment, file } = from;
  const given = environment['EVIDENCE_API_KEY']?.trim();
  if (given !== undefined) return given;
  const ofEnvironment = fromCommand(from, environment['EVIDENCE_API_KEY_FILE']);
  if (ofEnvironment !== null) return readSecret(ofEnvironment, 'EVIDENCE_API_KEY_FILE');
  const ofFile = inFolder(from, file.source?.api_key_file);
  return ofFile === null ? null : readSecret(ofFile, 'source.api_key_file');
}

function toSealKeys({ file, folder, flags, directory }: ConfigGiven): Map<string, NamedFile> {
  if (flags.sealKey !== undefined) return parseSealKeys(flags.sealKey, directory);
  const keys = file.verify?.seal_keys ?? {};
  if (typeof keys === 'string') return sealKeysIn(resolve(folder, keys));
  return new Map(Object.entries(keys).map(([id, path]) => [id, named(path, folder)]));
}

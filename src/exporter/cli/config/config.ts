import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import type { QueuePlace } from '../../queue/database.ts';
import { type Duration, type NamedFile, named, parseDuration, parseSealKeys, sealKeysIn } from './config-values.ts';
import { type ConfigFlags, type ConfigGiven, fromCommand, inFolder, readGivenSecret } from './given.ts';
import { CONFIG_FILE, type Found, readConfigFile } from './given-file.ts';
import { type NotifyConfig, toNotifyConfig } from './notify.ts';
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

/** Configuration, in the sections of its file. */
export interface Config {
  /** Configuration file as given; null if none was read. */
  configFile: string | null;
  source: SourceConfig;
  verify: VerifyConfig;
  sign: SignConfig;
  archive: ArchiveConfig;
  report: ReportConfig;
  /** Queue of distributed runs; null if none is configured, so that this machine exports all streams. */
  queue: QueuePlace | null;
  notify: NotifyConfig;
  /** Time limit of an export; null for none. */
  deadline: Duration | null;
  /** Folder in which commands create a folder for files on their way to or from the archive. */
  workDirectory: string;
}

/**
 * Loads the configuration for commands that export or keep an archive: file, then environment, then flags. Later
 * sources replace a value completely instead of adding to it. The file is evidence.yaml in the current folder, unless
 * another one is given.
 * @throws EvidenceError `config` with file, line and column, and a suggestion for a misspelled name.
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
 * Loads the configuration for commands that verify what others may have made: reads only a configuration file that is
 * explicitly given, and no API key.
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
  const queueUrl = readQueueUrl(from);
  const sealKeyFiles = toSealKeys(from);
  const passphraseFile = inFolder(from, file.sign?.passphrase_file);
  refuseMisplaced(givenWords(flags, environment, file), [
    ...secretsOf(environment),
    ...(apiKey === null ? [] : [{ name: 'the API key', text: apiKey }]),
    ...(queueUrl === null ? [] : [{ name: 'the address of the queue', text: queueUrl }]),
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
    notify: toNotifyConfig(from),
    deadline: toDeadline(from),
    queue: queueUrl === null ? null : { url: checkQueueUrl(queueUrl), schema: file.queue?.schema ?? 'evidence' },
    workDirectory: fromCommand(from, flags.workDirectory) ?? inFolder(from, file.work_directory) ?? tmpdir(),
  };
}

function toDeadline({ flags, file }: ConfigGiven): Duration | null {
  if (flags.deadline !== undefined) return parseDuration(flags.deadline, '--deadline');
  return file.deadline === undefined ? null : parseDuration(file.deadline, 'deadline in evidence.yaml');
}

function readApiKey(from: ConfigGiven): string | null {
  const inFile = { name: 'the API key', place: 'source.api_key_file', file: from.file.source?.api_key_file };
  return readGivenSecret(from, 'EVIDENCE_API_KEY_FILE', inFile);
}

function readQueueUrl(from: ConfigGiven): string | null {
  const inFile = { name: 'the address of the queue', place: 'queue.url_file', file: from.file.queue?.url_file };
  return readGivenSecret(from, 'EVIDENCE_QUEUE_URL_FILE', inFile);
}

/** @throws EvidenceError `config` whose message omits the address. */
function checkQueueUrl(url: string): string {
  const isPostgres = URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol);
  if (isPostgres) return url;
  throw new EvidenceError('config', 'the address of the queue is not a PostgreSQL URL', {
    nextStep: 'Set EVIDENCE_QUEUE_URL or the content of queue.url_file to postgres://USER:PASSWORD@HOST:PORT/DATABASE.',
  });
}

function toSealKeys({ file, folder, flags, directory }: ConfigGiven): Map<string, NamedFile> {
  if (flags.sealKey !== undefined) return parseSealKeys(flags.sealKey, directory);
  const keys = file.verify?.seal_keys ?? {};
  if (typeof keys === 'string') return sealKeysIn(resolve(folder, keys));
  return new Map(Object.entries(keys).map(([id, path]) => [id, named(path, folder)]));
}

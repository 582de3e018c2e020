import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { type CLAIMS, DEFAULT_REQUIRED } from '../../../verifier/claims/claim.ts';
import { DEFAULT_TRANSPORT } from '../../client/options.ts';
import {
  checkClaims,
  checkConcurrency,
  isFrameworkName,
  type NamedFile,
  named,
  parseSealKeys,
  readSecret,
} from './config-values.ts';
import { CONFIG_FILE, type Found, readConfigFile } from './found-file.ts';
import { givenWords, refuseMisplaced, secretsIn, secretsOf } from './secrets.ts';
import { checkHttpUrl, type StoreSettings, toStoreSettings } from './store-settings.ts';
import { checkArchiveUrl, isUrl } from './stores.ts';

/** What the flags of a command may replace. */
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
  publicKey?: readonly string[] | undefined;
  workDirectory?: string | undefined;
}

export interface Config {
  /** The configuration file, as it was named; null where none was read. */
  configFile: string | null;
  auditUrl: string | null;
  apiKey: string | null;
  /** The file of the service's contract; null for the default one. */
  contractFile: string | null;
  concurrency: number;
  /** Null to learn it from the service's refusals. */
  requestsPerSecond: number | null;
  /** Milliseconds. */
  timeouts: { connect: number; headers: number; idle: number };
  maxJsonBytes: number;
  maxDownloadBytes: number;
  /** PEM files. */
  tlsFiles: { ca: string | null; cert: string | null; key: string | null };
  required: (typeof CLAIMS)[number][];
  /** Roles and members of entries that may be left out of their digests. */
  acceptUnhashed: string[];
  completeness: 'listing' | 'record' | 'off';
  /** Key id to the file that holds the key. */
  sealKeyFiles: Map<string, NamedFile>;
  /** The PEM file of the roots under which the tokens of entries are judged. */
  timestampRootsFile: string | null;
  /** The PEM file of the roots under which the stamps of runs are judged. */
  stampRootsFile: string | null;
  /** PEM files of the keys that an archive must be signed with. */
  publicKeyFiles: string[];
  sign: {
    /** PEM; null for runs that are not signed. */
    keyFile: string | null;
    passphraseFile: string | null;
    /** From the environment, which outweighs the file. */
    passphrase: string | null;
    /** Null for runs that are not time-stamped. */
    tsaUrl: string | null;
  };
  archiveUrl: string;
  /** Whether somebody named it; else it is the default. */
  isArchiveNamed: boolean;
  /** In which a command makes a folder for what is on its way into the archive or out of it. */
  workDirectory: string;
  /** Recipients of age; none for an archive that is not encrypted. */
  encryptTo: string[];
  report: {
    organisation: string | null;
    preparedBy: string | null;
    /** Each the name of a framework that comes with the program, or a file. */
    controls: string[];
    oscal: boolean;
  };
  store: StoreSettings;
}

export const DEFAULT_ARCHIVE = './evidence-archive';

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
  const inFolder = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  const namedKey = environment['EVIDENCE_API_KEY_FILE'];
  const keyFile = namedKey === undefined ? inFolder(file.source?.api_key_file) : resolve(directory, namedKey);
  const apiKey = environment['EVIDENCE_API_KEY']?.trim() ?? (keyFile === undefined ? null : readSecret(keyFile));
  const sealKeyFiles =
    flags.sealKey === undefined
      ? new Map(Object.entries(file.verify?.seal_keys ?? {}).map(([id, path]) => [id, named(path, folder)]))
      : parseSealKeys(flags.sealKey, directory);
  const passphraseFile = inFolder(file.sign?.passphrase_file) ?? null;
  refuseMisplaced(givenWords(flags, environment, file), [
    ...secretsOf(environment),
    ...(apiKey === null ? [] : [{ name: 'the API key', text: apiKey }]),
    ...[...sealKeyFiles].flatMap(([id, { path }]) => secretsIn(`the seal key "${id}"`, path)),
    ...(passphraseFile === null ? [] : secretsIn('the passphrase of the signing key', passphraseFile)),
  ]);
  const ofFile = file.archive?.url;
  const archiveUrl =
    flags.archive ??
    environment['EVIDENCE_ARCHIVE_URL'] ??
    (ofFile === undefined || isUrl(ofFile) ? ofFile : resolve(folder, ofFile));
  const { rate, timeouts, limits, tls } = file.source ?? {};
  const milliseconds = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);
  const flagRoots = flags.timestampRoots === undefined ? undefined : resolve(directory, flags.timestampRoots);
  return {
    configFile: given,
    auditUrl: checkHttpUrl(
      'the address of the audit service',
      flags.auditUrl ?? environment['EVIDENCE_AUDIT_URL'] ?? file.source?.audit_url ?? null,
    ),
    apiKey,
    contractFile:
      flags.contract === undefined ? (inFolder(file.source?.contract) ?? null) : resolve(directory, flags.contract),
    concurrency: checkConcurrency(flags.concurrency ?? rate?.concurrency ?? 4),
    requestsPerSecond: rate?.requests_per_second ?? DEFAULT_TRANSPORT.requestsPerSecond,
    timeouts: {
      connect: milliseconds(timeouts?.connect_seconds) ?? DEFAULT_TRANSPORT.timeouts.connect,
      headers: milliseconds(timeouts?.headers_seconds) ?? DEFAULT_TRANSPORT.timeouts.headers,
      idle: milliseconds(timeouts?.idle_seconds) ?? DEFAULT_TRANSPORT.timeouts.idle,
    },
    maxJsonBytes: limits?.json_bytes ?? DEFAULT_TRANSPORT.maxJsonBytes,
    maxDownloadBytes: limits?.package_bytes ?? DEFAULT_TRANSPORT.maxDownloadBytes,
    tlsFiles: {
      ca: inFolder(tls?.ca_file) ?? null,
      cert: inFolder(tls?.cert_file) ?? null,
      key: inFolder(tls?.key_file) ?? null,
    },
    required: checkClaims(flags.require ?? file.verify?.require ?? DEFAULT_REQUIRED),
    acceptUnhashed: flags.acceptUnhashed?.flatMap((list) => list.split(',')) ?? file.verify?.accept_unhashed ?? [],
    completeness: file.verify?.completeness ?? 'listing',
    sealKeyFiles,
    timestampRootsFile: flagRoots ?? inFolder(file.verify?.timestamp_roots) ?? null,
    stampRootsFile: flagRoots ?? inFolder(file.sign?.tsa_roots) ?? inFolder(file.verify?.timestamp_roots) ?? null,
    publicKeyFiles:
      flags.publicKey === undefined
        ? (file.verify?.public_keys ?? []).map((path) => resolve(folder, path))
        : flags.publicKey.map((path) => resolve(directory, path)),
    sign: {
      keyFile: inFolder(file.sign?.key_file) ?? null,
      passphraseFile,
      passphrase: environment['EVIDENCE_SIGNING_PASSPHRASE'] ?? null,
      tsaUrl: file.sign?.tsa_url ?? null,
    },
    archiveUrl: checkArchiveUrl(archiveUrl ?? DEFAULT_ARCHIVE),
    isArchiveNamed: archiveUrl !== undefined,
    workDirectory:
      flags.workDirectory === undefined
        ? (inFolder(file.work_directory) ?? tmpdir())
        : resolve(directory, flags.workDirectory),
    encryptTo: file.archive?.encrypt_to ?? [],
    report: {
      organisation: file.report?.organisation ?? null,
      preparedBy: file.report?.prepared_by ?? null,
      controls: [file.report?.controls ?? []]
        .flat()
        .map((name) => (isFrameworkName(name) ? name : resolve(folder, name))),
      oscal: file.report?.oscal ?? false,
    },
    store: toStoreSettings(file.archive, flags, folder),
  };
}

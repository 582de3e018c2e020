import { resolve } from 'node:path';
import { type ClaimName, DEFAULT_REQUIRED } from '../../../verifier/claims/claim.ts';
import type { OtherService } from '../../../verifier/supplements/files.ts';
import { DEFAULT_TRANSPORT, type TransportOptions } from '../../client/options.ts';
import { checkClaims, checkConcurrency, isFrameworkName, type NamedFile } from './config-values.ts';
import { type ConfigGiven, fromCommand, inFolder } from './given.ts';
import { checkHttpUrl, toStoreSettings } from './store-settings.ts';
import type { NamedArchive } from './stores/store.ts';
import { checkArchiveUrl, isUrl } from './stores.ts';

export const DEFAULT_ARCHIVE = './evidence-archive';

/** The service, how it is read, and how it is asked. */
export interface SourceConfig {
  auditUrl: string | null;
  /** Addresses of the services that supplements are collected from; null for those that are not configured. */
  otherUrls: Record<OtherService, string | null>;
  apiKey: string | null;
  /** The file of the service's contract; null for the default one. */
  contractFile: string | null;
  concurrency: number;
  /** Null to learn it from the service's refusals. */
  requestsPerSecond: number | null;
  /** Items on a page of a list; null for as many as the contract says. */
  pageItems: number | null;
  /** Bounds of what the service can make an export wait for, keep, and ask. */
  bounds: Pick<TransportOptions, 'timeouts' | 'bytesPerSecond' | 'waits' | 'maxBytes' | 'maxPages'>;
  /** PEM files. */
  tlsFiles: { ca: string | null; cert: string | null; key: string | null };
}

/** The claims to be proved, and the trust for them. */
export interface VerifyConfig {
  required: ClaimName[];
  /** Roles and members of entries that may be left out of their digests. */
  acceptUnhashed: string[];
  /** Evidence that holds the API key is archived as if it did not. */
  acceptsSecrets: boolean;
  completeness: 'listing' | 'record' | 'off';
  /** Key id to the file that holds the key. */
  sealKeyFiles: Map<string, NamedFile>;
  /** The PEM file of the roots under which the tokens of entries are judged. */
  timestampRootsFile: string | null;
  /** PEM files of the keys that an archive must be signed with. */
  publicKeyFiles: string[];
}

export interface SignConfig {
  /** PEM; null for runs that are not signed. */
  keyFile: string | null;
  passphraseFile: string | null;
  /** From the environment, which outweighs the file. */
  passphrase: string | null;
  /** Null for runs that are not time-stamped. */
  tsaUrl: string | null;
  /** The PEM file of the roots under which the stamps of runs are judged. */
  rootsFile: string | null;
}

export interface ArchiveConfig extends NamedArchive {
  /** True if somebody named it; else it is the default. */
  isNamed: boolean;
  /** Recipients of age; none for an archive that is not encrypted. */
  encryptTo: string[];
}

export interface ReportConfig {
  organisation: string | null;
  preparedBy: string | null;
  /** Each the name of a framework that comes with the program, or a file. */
  controls: string[];
  oscal: boolean;
}

export function toSourceConfig(from: ConfigGiven): Omit<SourceConfig, 'apiKey'> {
  const { file, flags, environment } = from;
  const { rate, tls, audit_url = null, contract } = file.source ?? {};
  return {
    auditUrl: checkHttpUrl(
      'the address of the audit service',
      flags.auditUrl ?? environment['EVIDENCE_AUDIT_URL'] ?? audit_url,
    ),
    otherUrls: toOtherUrls(from),
    contractFile: fromCommand(from, flags.contract) ?? inFolder(from, contract),
    concurrency: checkConcurrency(flags.concurrency ?? rate?.concurrency ?? 4),
    requestsPerSecond: rate?.requests_per_second ?? DEFAULT_TRANSPORT.requestsPerSecond,
    pageItems: null,
    bounds: toBounds(from),
    tlsFiles: {
      ca: inFolder(from, tls?.ca_file),
      cert: inFolder(from, tls?.cert_file),
      key: inFolder(from, tls?.key_file),
    },
  };
}

function toBounds({ file: { source } }: ConfigGiven): SourceConfig['bounds'] {
  const { rate, timeouts, limits } = source ?? {};
  const { timeouts: usual, bytesPerSecond, waits, maxBytes, maxPages } = DEFAULT_TRANSPORT;
  const milliseconds = (seconds: number | undefined, other: number) => (seconds === undefined ? other : seconds * 1000);
  const longest = milliseconds(timeouts?.retry_after_seconds, waits.longest);
  return {
    timeouts: {
      connect: milliseconds(timeouts?.connect_seconds, usual.connect),
      headers: milliseconds(timeouts?.headers_seconds, usual.headers),
      idle: milliseconds(timeouts?.idle_seconds, usual.idle),
      request: milliseconds(timeouts?.request_seconds, usual.request),
      download: milliseconds(timeouts?.download_seconds, usual.download),
    },
    bytesPerSecond: rate?.least_bytes_per_second ?? bytesPerSecond,
    waits: { longest, inAll: 3 * longest },
    maxBytes: { json: limits?.json_bytes ?? maxBytes.json, download: limits?.package_bytes ?? maxBytes.download },
    maxPages: limits?.pages ?? maxPages,
  };
}

function toOtherUrls({ file: { source }, environment }: ConfigGiven): SourceConfig['otherUrls'] {
  const urlOf = (service: OtherService, given: string | undefined) =>
    checkHttpUrl(`the address of the service of ${service}`, given ?? source?.[`${service}_url`] ?? null);
  return {
    traps: urlOf('traps', environment['EVIDENCE_TRAPS_URL']),
    endpoints: urlOf('endpoints', environment['EVIDENCE_ENDPOINTS_URL']),
    agents: urlOf('agents', environment['EVIDENCE_AGENTS_URL']),
  };
}

export function toVerifyConfig(from: ConfigGiven): Omit<VerifyConfig, 'sealKeyFiles'> {
  const { file, folder, flags, directory } = from;
  const {
    require = DEFAULT_REQUIRED,
    accept_unhashed = [],
    accept_secrets = false,
    completeness = 'listing',
  } = file.verify ?? {};
  return {
    required: checkClaims(flags.require ?? require),
    acceptsSecrets: accept_secrets,
    acceptUnhashed: flags.acceptUnhashed?.flatMap((list) => list.split(',')) ?? accept_unhashed,
    completeness,
    timestampRootsFile: fromCommand(from, flags.timestampRoots) ?? inFolder(from, file.verify?.timestamp_roots),
    publicKeyFiles:
      flags.publicKey === undefined
        ? (file.verify?.public_keys ?? []).map((path) => resolve(folder, path))
        : flags.publicKey.map((path) => resolve(directory, path)),
  };
}

export function toSignConfig(from: ConfigGiven): Omit<SignConfig, 'passphraseFile'> {
  const { sign } = from.file;
  return {
    keyFile: inFolder(from, sign?.key_file),
    passphrase: from.environment['EVIDENCE_SIGNING_PASSPHRASE'] ?? null,
    tsaUrl: sign?.tsa_url ?? null,
    rootsFile: fromCommand(from, from.flags.stampRoots) ?? inFolder(from, sign?.tsa_roots),
  };
}

export function toArchiveConfig(from: ConfigGiven): ArchiveConfig {
  const { file, folder, flags, environment } = from;
  const ofFile = file.archive?.url;
  const url =
    flags.archive ??
    environment['EVIDENCE_ARCHIVE_URL'] ??
    (ofFile === undefined || isUrl(ofFile) ? ofFile : resolve(folder, ofFile));
  return {
    url: checkArchiveUrl(url ?? DEFAULT_ARCHIVE),
    isNamed: url !== undefined,
    encryptTo: file.archive?.encrypt_to ?? [],
    store: toStoreSettings(file.archive, flags, folder),
  };
}

export function toReportConfig({ file, folder }: ConfigGiven): ReportConfig {
  const { organisation = null, prepared_by: preparedBy = null, controls = [], oscal = false } = file.report ?? {};
  return {
    organisation,
    preparedBy,
    controls: [controls].flat().map((name) => (isFrameworkName(name) ? name : resolve(folder, name))),
    oscal,
  };
}

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

/** Audit service, its contract, and the limits of requests to it. */
export interface SourceConfig {
  auditUrl: string | null;
  /** Addresses of the services that supplements are collected from; null for unconfigured ones. */
  otherUrls: Record<OtherService, string | null>;
  apiKey: string | null;
  /** Contract file of the service; null for the default contract. */
  contractFile: string | null;
  concurrency: number;
  /** Rate limit; null to learn the rate from the service's refusals. */
  requestsPerSecond: number | null;
  /** Number of items on a page of a list; null for the contract's number. */
  pageItems: number | null;
  /** Limits on what the service can make an export wait for, store, and request. */
  bounds: Pick<TransportOptions, 'timeouts' | 'bytesPerSecond' | 'waits' | 'maxBytes' | 'maxPages'>;
  /** PEM files for TLS. */
  tlsFiles: { ca: string | null; cert: string | null; key: string | null };
}

/** Required claims, and the trust inputs for them. */
export interface VerifyConfig {
  required: ClaimName[];
  /** Roles and members of entries that digests need not cover. */
  acceptUnhashed: string[];
  /** Archives evidence that contains the API key instead of refusing it. */
  acceptsSecrets: boolean;
  completeness: 'listing' | 'record' | 'off';
  /** Files of the seal keys by key id. */
  sealKeyFiles: Map<string, NamedFile>;
  /** PEM file of the roots for tokens of entries. */
  timestampRootsFile: string | null;
  /** PEM files of the keys that an archive must be signed with. */
  publicKeyFiles: string[];
}

export interface SignConfig {
  /** PEM file of the signing key; null for unsigned runs. */
  keyFile: string | null;
  passphraseFile: string | null;
  /** Passphrase from the environment, which takes precedence over the file. */
  passphrase: string | null;
  /** Address of the time-stamping authority; null for runs without time-stamps. */
  tsaUrl: string | null;
  /** PEM file of the roots for stamps of runs. */
  rootsFile: string | null;
}

export interface ArchiveConfig extends NamedArchive {
  /** True if the address was given; false for the default. */
  isNamed: boolean;
  /** Recipients of age; empty for an unencrypted archive. */
  encryptTo: string[];
}

export interface ReportConfig {
  organisation: string | null;
  preparedBy: string | null;
  /** Names of frameworks that the program includes, or files. */
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

import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { parseYaml } from '../core/yaml.ts';
import { originOf } from './http/listen.ts';
import { LOG_LEVELS, type LogLevel } from './http/log.ts';
import { RATE_LIMITS, type RateLimits } from './http/principal.ts';
import type { MailSettings } from './mail/open.ts';
import { type ModuleOptions, SERVICE_SETTINGS, toModuleOptions } from './service-settings.ts';
import {
  hasNoPassword,
  isOrigin,
  isPostgres,
  NO_ORIGIN,
  NO_POSTGRES,
  passwordShown,
  readPassword,
  SIGN_UP_MODES,
  signUpDomainSchema,
  smtpFileSchema,
  toMailSettings,
  toPublicUrl,
} from './settings.ts';
import { METRICS_FOR, type MetricsFor } from './status/routes.ts';

/** Settings of a platform. */
// Over ten members: each one is a setting.
export interface PlatformConfig extends ModuleOptions {
  /** Folder with the keys, and with the SQLite database. */
  dataDir: string;
  /** PostgreSQL database instead of SQLite. */
  postgresUrl: string | null;
  host: string;
  /** Port; 0 selects any free one. */
  port: number;
  /** RFC 3161 authority; null for the development authority of the folder. */
  tsaUrl: string | null;
  /** PEM file of the roots to which the authority's certificate must lead; null for any authority. */
  tsaRoots: string | null;
  /** Minutes between checkpoints of grown streams; null for checkpoints on request only. */
  checkpointMinutes: number | null;
  logLevel: LogLevel;
  rateLimits: RateLimits;
  /** Addresses and networks of proxies that may state the sender of a request. */
  trustedProxies: readonly string[];
  /** Readers of the metrics. */
  metricsFor: MetricsFor;
  /** Public address without a trailing slash; null for the address that the platform listens on. */
  publicUrl: string | null;
  /** People who may sign up once there is an owner. */
  signUp: (typeof SIGN_UP_MODES)[number];
  /** Domains whose addresses may sign up; empty for all. */
  signUpDomains: readonly string[];
  mail: MailSettings;
  /** Internal hosts that requests may be sent to. */
  outgoingHosts: readonly string[];
}

/** Flags of the command line. */
export interface PlatformFlags {
  config?: string | undefined;
  data?: string | undefined;
  postgres?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  'tsa-url'?: string | undefined;
}

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const proxy = z.string().refine((text) => network.safeParse(text).success, 'is neither an IP address nor a network');
const port = z.int().min(0).max(65_535);

const settings = z.strictObject({
  data: z.string().min(1).optional(),
  postgres_url: z
    .string()
    .refine(isPostgres, { error: NO_POSTGRES, abort: true })
    .refine(hasNoPassword, passwordShown('postgres_password_file'))
    .optional(),
  postgres_password_file: z.string().min(1).optional(),
  host: z.string().min(1).optional(),
  port: port.optional(),
  tsa_url: z.string().min(1).optional(),
  tsa_roots: z.string().min(1).optional(),
  checkpoint_minutes: z.int().min(1).max(10_080).optional(),
  log_level: z.enum(LOG_LEVELS).optional(),
  trusted_proxies: z.array(proxy).optional(),
  metrics_for: z.enum(METRICS_FOR).optional(),
  rate_limits: z
    .strictObject({ requests_per_minute: z.int().min(1).optional(), refusals_per_minute: z.int().min(1).optional() })
    .optional(),
  public_url: z.string().refine(isOrigin, NO_ORIGIN).optional(),
  sign_up: z.enum(SIGN_UP_MODES).optional(),
  sign_up_domains: z.array(signUpDomainSchema).min(1).max(100).optional(),
  smtp: smtpFileSchema.optional(),
  mail_folder: z.string().min(1).optional(),
  outgoing_hosts: z.array(z.string().min(1)).optional(),
  ...SERVICE_SETTINGS,
});

/** Contents of a settings file. */
export const platformFileSchema = settings.refine(
  ({ smtp, mail_folder }) => smtp === undefined || mail_folder === undefined,
  { path: ['mail_folder'], error: 'smtp and mail_folder are mutually exclusive; remove one of them' },
);
export type ConfigFile = z.infer<typeof platformFileSchema>;

/**
 * Returns the settings from the file, the environment and the flags; later sources override earlier ones. Only an
 * explicitly specified file is read. Paths in the file are relative to its folder, others to the current directory.
 * @param directory the current directory.
 * @throws EvidenceError `config` with file, line and column, variable, or flag.
 */
export function readPlatformConfig(
  flags: PlatformFlags,
  environment: NodeJS.ProcessEnv,
  directory: string,
): PlatformConfig {
  const path = flags.config ?? environment['EVIDENCE_PLATFORM_CONFIG'];
  const file = path === undefined ? {} : readFile(resolve(directory, path));
  // Empty variables count as unset.
  const variable = (name: string) => environment[name] || undefined;
  const besideFile = (name: string) =>
    resolve(path === undefined ? directory : dirname(resolve(directory, path)), name);
  const dataDir = flags.data ?? variable('EVIDENCE_PLATFORM_DATA') ?? file.data;
  if (dataDir === undefined)
    throw new EvidenceError('config', 'no data folder is configured', {
      nextStep: `Set --data DIR, EVIDENCE_PLATFORM_DATA, or data in the file given by --config.`,
    });
  return {
    dataDir,
    postgresUrl: toPostgresUrl(flags, variable('EVIDENCE_PLATFORM_POSTGRES_URL'), file),
    host: flags.host ?? variable('EVIDENCE_PLATFORM_HOST') ?? file.host ?? '127.0.0.1',
    port: flags.port ?? toPort(variable('EVIDENCE_PLATFORM_PORT')) ?? file.port ?? 8181,
    tsaUrl: flags['tsa-url'] ?? variable('EVIDENCE_PLATFORM_TSA_URL') ?? file.tsa_url ?? null,
    tsaRoots: file.tsa_roots ?? null,
    checkpointMinutes: file.checkpoint_minutes ?? null,
    logLevel: toLogLevel(variable('EVIDENCE_PLATFORM_LOG_LEVEL')) ?? file.log_level ?? 'warn',
    rateLimits: toRateLimits(file),
    trustedProxies: file.trusted_proxies ?? [],
    metricsFor: file.metrics_for ?? 'key',
    publicUrl: toPublicUrl(variable('EVIDENCE_PLATFORM_PUBLIC_URL'), file),
    signUp: file.sign_up ?? 'closed',
    signUpDomains: file.sign_up_domains ?? [],
    mail: toMailSettings(file, join(dataDir, 'mail')),
    outgoingHosts: file.outgoing_hosts ?? [],
    ...toModuleOptions(file, besideFile),
  };
}

function toRateLimits({ rate_limits = {} }: ConfigFile): RateLimits {
  return {
    requestsPerMinute: rate_limits.requests_per_minute ?? RATE_LIMITS.requestsPerMinute,
    refusalsPerMinute: rate_limits.refusals_per_minute ?? RATE_LIMITS.refusalsPerMinute,
  };
}

function readFile(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new EvidenceError('config', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const file = parseYaml(platformFileSchema, text, path);
  const inFolder = (name: string) => resolve(dirname(path), name);
  for (const name of ['data', 'postgres_password_file', 'tsa_roots', 'mail_folder'] as const)
    if (file[name] !== undefined) file[name] = inFolder(file[name]);
  if (file.smtp?.password_file !== undefined) file.smtp.password_file = inFolder(file.smtp.password_file);
  return file;
}

/** Returns the address with its password, which no error quotes. */
function toPostgresUrl({ postgres }: PlatformFlags, variable: string | undefined, file: ConfigFile): string | null {
  const given = postgres ?? variable ?? file.postgres_url;
  if (given === undefined) return null;
  // The schema has already checked an address from the file.
  const source = postgres === undefined ? 'EVIDENCE_PLATFORM_POSTGRES_URL' : '--postgres';
  if (!isPostgres(given)) throw new EvidenceError('config', `${source} ${NO_POSTGRES}`);
  if (postgres !== undefined && !hasNoPassword(postgres))
    throw new EvidenceError('config', `${source} contains a password, which others can read there`, {
      nextStep: `Put the password into a file and set postgres_password_file, or put the whole URL into EVIDENCE_PLATFORM_POSTGRES_URL.`,
    });
  const url = new URL(given);
  if (file.postgres_password_file !== undefined)
    url.password = encodeURIComponent(readPassword('postgres_password_file', file.postgres_password_file));
  return url.href;
}

function toPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const read = port.safeParse(/^\d+$/.test(text) ? Number(text) : Number.NaN);
  if (!read.success) throw new EvidenceError('config', `EVIDENCE_PLATFORM_PORT is not a port number`);
  return read.data;
}

function toLogLevel(text: string | undefined): LogLevel | undefined {
  if (text === undefined) return undefined;
  const level = LOG_LEVELS.find((each) => each === text);
  if (level === undefined)
    throw new EvidenceError('config', `EVIDENCE_PLATFORM_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** Returns the public address of the platform, as far as the settings determine it. */
export function publicUrlOf({ publicUrl, host, port }: PlatformConfig): string {
  return publicUrl ?? originOf(['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host, port);
}

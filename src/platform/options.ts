import type { LogLevel } from './http/log.ts';
import type { RateLimits } from './http/principal.ts';
import type { MailSettings } from './mail/open.ts';
import type { PartsOptions } from './parts.ts';
import type { ModuleOptions } from './service-settings.ts';
import type { MetricsFor } from './status/routes.ts';

/** Options of a platform. */
// Over ten members: each one is a setting.
export interface PlatformOptions extends PartsOptions, Partial<ModuleOptions> {
  /** Port; 0 selects any free one. */
  port: number;
  /** Host to listen on; 127.0.0.1 by default. */
  host?: string;
  /** RFC 3161 authority; without one, the development authority of the folder. */
  tsaUrl?: string | null;
  /** PEM file of the roots to which the authority's certificate must lead; any authority without it. */
  tsaRoots?: string | null;
  /** Minutes between checkpoints of grown streams; without it, checkpoints on request only. */
  checkpointMinutes?: number | null;
  logLevel?: LogLevel;
  rateLimits?: RateLimits;
  trustedProxies?: readonly string[];
  metricsFor?: MetricsFor;
  /** Time to wait for a database that does not answer; 5 minutes by default. */
  databaseWaitMs?: number;
  /** Ends the wait for the database. */
  signal?: AbortSignal;
  /** Environment variables that may create the first account. */
  environment?: NodeJS.ProcessEnv;
  /** Internal hosts that requests may be sent to. */
  outgoingHosts?: readonly string[];
  /** Destination of mails; the folder `mail` in the data folder by default. */
  mail?: MailSettings;
}

export interface Platform {
  origin: string;
  auditUrl: string;
  /** Name of the destination of mails, for people. */
  mailTo: string;
  /** Account of how the first account was created; null if it was not created now. */
  bootstrapped: string | null;
  /** Stops after running requests were answered, or after 3 s. */
  close(): Promise<void>;
}

import type { LogLevel } from './http/log.ts';
import type { RateLimits } from './http/principal.ts';
import type { MailSettings } from './mail/open.ts';
import type { PartsOptions } from './parts.ts';
import type { ModuleOptions } from './service-settings.ts';
import type { MetricsFor } from './status/routes.ts';

/** The options that a platform is started with. */
// Over ten members: each is a setting.
export interface PlatformOptions extends PartsOptions, Partial<ModuleOptions> {
  /** 0 for any that is free. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** An RFC 3161 authority; without one the development authority of the folder anchors. */
  tsaUrl?: string | null;
  /** The minutes between checkpoints of streams that grew; without it only when somebody asks. */
  checkpointMinutes?: number | null;
  logLevel?: LogLevel;
  rateLimits?: RateLimits;
  trustedProxies?: readonly string[];
  metricsFor?: MetricsFor;
  /** Variables that may make the first account. */
  environment?: NodeJS.ProcessEnv;
  /** Hosts of the inside to which requests may be sent. */
  outgoingHosts?: readonly string[];
  /** The way that mails go; into the folder `mail` of the data folder, unless said. */
  mail?: MailSettings;
}

export interface Platform {
  origin: string;
  auditUrl: string;
  /** The name of the place that mails go to, for people. */
  mailTo: string;
  /** The words for what was done for the first account; null where nothing was. */
  bootstrapped: string | null;
  /** Ends once requests under way were answered, or after 3 s. */
  close(): Promise<void>;
}

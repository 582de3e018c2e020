import type { RateLimits } from './http/principal.ts';
import type { LogLevel } from './http/server.ts';
import type { MailSettings } from './mail/open.ts';
import type { PartsOptions } from './parts.ts';

/** What a platform is started with. */
export interface PlatformOptions extends PartsOptions {
  /** 0 for any that is free. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** An RFC 3161 authority; without one the development authority of the folder anchors. */
  tsaUrl?: string | null;
  /** How often streams that grew get a checkpoint; without it only when somebody asks. */
  checkpointMinutes?: number | null;
  logLevel?: LogLevel;
  rateLimits?: RateLimits;
  /** Variables that may make the first account. */
  environment?: NodeJS.ProcessEnv;
  /** Where browsers reach it; where it listens, unless said. */
  publicUrl?: string | null;
  /** Where mails go; into the folder `mail` of the data folder, unless said. */
  mail?: MailSettings;
}

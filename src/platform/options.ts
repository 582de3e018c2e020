import type { LogLevel } from './http/log.ts';
import type { RateLimits } from './http/principal.ts';
import type { PlatformPlace } from './setup.ts';
import type { MetricsFor } from './status/metrics-for.ts';

export interface PlatformOptions extends PlatformPlace {
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
  trustedProxies?: readonly string[];
  metricsFor?: MetricsFor;
}

export interface Platform {
  origin: string;
  auditUrl: string;
  /** Ends once requests under way were answered, or after 3 s. */
  close(): Promise<void>;
}

import type { FastifyBaseLogger, FastifyPluginAsync } from 'fastify';
import type { Collect } from '../core/exposition.ts';
import type { KeyAuthentication } from './accounts/authentication.ts';
import type { AlertService } from './alerts/service.ts';
import type { DerivedSealKeys } from './audit/seal-keys.ts';
import type { ReadableDatabase } from './database/database.ts';
import type { Sends } from './jobs/delivery.ts';
import type { Job } from './jobs/scheduler.ts';
import type { MailTransport } from './mail/mail.ts';
import type { PlatformOptions } from './options.ts';
import type { Parts } from './parts.ts';
import type { FileWatch, UseDecoy } from './traps/api.ts';
import type { TrapService } from './traps/service.ts';
import type { ModuleOverview } from './web/overview.ts';
import type { ModulePages } from './web/web.ts';

/** Dependencies of an opening service. */
export interface ServiceDeps extends Parts {
  options: PlatformOptions;
  masterKey: Uint8Array;
  authentication: KeyAuthentication;
  serverLog: FastifyBaseLogger;
  /** Returns the public address of the platform. */
  publicUrl: () => string;
  /** Internal hosts that messages may be sent to. */
  outgoingHosts: readonly string[];
  alerts: AlertService;
  traps: TrapService;
}

/** Open service. Other services use it only through its `api.ts`. */
export interface OpenService {
  routes: FastifyPluginAsync;
  /** Pages under `/app`. */
  pages?: ModulePages;
  /** Part of the front page. */
  overview?: ModuleOverview;
  /** Background jobs. */
  jobs: readonly Job[];
  /** Returns the senders of its messages in the outbox. */
  sends?(mail: MailTransport): Sends;
  /** Metrics of the service. */
  metrics?: Collect;
  /** Starts background work other than jobs, before the first request. */
  start?(): Promise<void>;
  /** Resolves when no work of the service is running, after requests and jobs have ended. */
  settled(): Promise<void>;
  /** Returns the watches over files of traps. */
  watches?(): Promise<ReadonlyMap<string, FileWatch>>;
  /** Records the use of a trap that the service has planted. */
  useDecoy?: UseDecoy;
}

/** Open service with its name. */
export interface NamedService extends OpenService {
  name: string;
}

/** Place whose rows are checked. */
export interface CheckPlace {
  database: ReadableDatabase;
  sealKeys: DerivedSealKeys;
  clock: () => Date;
  signal: AbortSignal;
}

/** Difference between rows and what determines them. */
export interface RowFinding {
  code: string;
  /** Subject, for people. */
  of: string;
  /** Values, if there are any to show. */
  expected?: string | null | undefined;
  actual?: string | null | undefined;
}

/** Yields the differences between the rows of a service and what determines them. */
export type RowCheck = (place: CheckPlace) => AsyncIterable<RowFinding>;

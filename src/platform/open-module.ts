import type { FastifyBaseLogger, FastifyPluginAsync } from 'fastify';
import type { Collect } from '../core/exposition.ts';
import type { KeyAuthentication } from './accounts/authentication.ts';
import type { AlertService } from './alerts/service.ts';
import type { Sends } from './jobs/delivery.ts';
import type { Job } from './jobs/scheduler.ts';
import type { MailTransport } from './mail/mail.ts';
import type { PlatformOptions } from './options.ts';
import type { Parts } from './parts.ts';
import type { FileWatch, UseDecoy } from './traps/api.ts';
import type { TrapService } from './traps/service.ts';
import type { ModuleOverview } from './web/overview.ts';
import type { ModulePages } from './web/web.ts';

/** Dependencies that a service is opened with. */
export interface ServiceDeps extends Parts {
  options: PlatformOptions;
  masterKey: Uint8Array;
  authentication: KeyAuthentication;
  serverLog: FastifyBaseLogger;
  /** The address where the platform is reached. */
  publicUrl: () => string;
  /** Hosts of the inside to which something may be sent. */
  outgoingHosts: readonly string[];
  alerts: AlertService;
  traps: TrapService;
}

/** An open service. It knows another one by that one's `api.ts` alone. */
export interface OpenService {
  routes: FastifyPluginAsync;
  /** Its pages, under `/app`. */
  pages?: ModulePages;
  /** Its part of the front page. */
  overview?: ModuleOverview;
  /** The jobs that it does besides answering. */
  jobs: readonly Job[];
  /** The messages that it sends to others from the outbox. */
  sends?(mail: MailTransport): Sends;
  /** Its metrics. */
  metrics?: Collect;
  /** Begins what it does besides answering and jobs, before it is asked. */
  start?(): Promise<void>;
  /** Resolves when nothing of it is under way any more, once nobody asks and no job runs. */
  settled(): Promise<void>;
  /** Files of traps that it watches on machines. */
  watches?(): Promise<ReadonlyMap<string, FileWatch>>;
  /** Records the use of a trap that the service has planted. */
  useDecoy?: UseDecoy;
}

/** An open service under its name. */
export interface NamedService extends OpenService {
  name: string;
}

import type { FastifyPluginAsync } from 'fastify';
import type { Collect } from '../core/exposition.ts';
import type { Deliver, Note } from './jobs/delivery.ts';
import type { Job } from './jobs/scheduler.ts';
import type { MailTransport } from './mail/mail.ts';
import type { ModuleOverview } from './web/overview.ts';
import type { ModulePages } from './web/web.ts';

/** By the kind of a message: its delivery, and the listener for its state. */
export type Sends = ReadonlyMap<string, { deliver: Deliver; note: Note }>;

/** A service of the platform. It knows another one by that one's `api.ts` alone. */
export interface ServiceModule {
  /** Its routes stand under it. */
  name: string;
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
}

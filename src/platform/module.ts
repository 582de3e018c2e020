import type { FastifyPluginAsync } from 'fastify';

/** A service of the platform. It knows another one by that one's `api.ts` alone. */
export interface ServiceModule {
  /** Its routes stand under it. */
  name: string;
  routes: FastifyPluginAsync;
  /** Begins what goes on besides answering, once the tables are there. */
  start(): Stoppable;
}

export interface Stoppable {
  /** Ends it; resolves when nothing of it goes on any more. */
  stop(): Promise<void>;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type FastifyInstance, fastify, LogController } from 'fastify';
import { OUTAGES, type Outage, outageIn } from './database/outage.ts';
import { closeSoon, listen } from './http/listen.ts';
import { type LogLevel, loggerOptions } from './http/log.ts';
import { answerProblem, outageProblem } from './http/problem.ts';
import type { PlatformOptions } from './options.ts';
import { openParts, type Parts } from './parts.ts';
import { DatabaseAway, requireWrites } from './setup.ts';

/** Time after which a start gives up, if nothing else is configured. */
export const GIVE_UP_MS = 5 * 60_000;
/** Time between attempts. */
const PAUSE_MS = 1000;

/**
 * Opens the parts of a platform. While their database is in an outage, the address of the platform answers that it is
 * alive, but not ready.
 * @throws DatabaseAway if the outage does not end in time; the signal's reason; otherwise as `openParts`.
 */
export async function openPartsInTime(options: PlatformOptions): Promise<Parts> {
  const { host = '127.0.0.1', port, logLevel = 'warn', databaseWaitMs = GIVE_UP_MS, signal } = options;
  const end = performance.now() + databaseWaitMs;
  let standIn: FastifyInstance | null = null;
  let outage: Outage = 'unreachable';
  try {
    for (;;) {
      try {
        return await openWritable(options);
      } catch (error) {
        if (!(error instanceof DatabaseAway) || performance.now() > end) throw error;
        outage = outageIn(error) ?? outage;
        if (standIn === null) {
          standIn = createStandIn(logLevel, () => outage);
          standIn.log.warn({ reason: error.message }, 'waiting for the database');
          await listen(standIn, { host, port });
        }
        await sleep(PAUSE_MS, undefined, { signal });
      }
    }
  } finally {
    if (standIn !== null) await closeSoon(standIn);
  }
}

/** @throws DatabaseAway, without leaving the database open. */
async function openWritable(options: PlatformOptions) {
  const opened = await openParts(options);
  try {
    await requireWrites(opened.database, options);
    return opened;
  } catch (error) {
    await opened.database.close();
    throw error;
  }
}

/** Returns a server for the time before the database can be used. */
function createStandIn(logLevel: LogLevel, outage: () => Outage): FastifyInstance {
  const server = fastify({
    logger: loggerOptions(logLevel),
    logController: new LogController({ disableRequestLogging: true }),
  });
  server.get('/health', async () => ({ status: 'alive' }));
  server.get('/ready', (_request, reply) =>
    reply.code(503).send({ ready: false, checks: { database: false }, reasons: { database: OUTAGES[outage()] } }),
  );
  server.setNotFoundHandler((request, reply) => answerProblem(outageProblem(outage()), request, reply));
  return server;
}

import { EvidenceError } from '../../../core/errors.ts';
import type { SharedRate } from '../../client/rate.ts';
import { QueueDatabase } from '../../queue/database.ts';
import { DatabaseRate } from '../../queue/rate.ts';
import { RunQueue } from '../../queue/run-queue.ts';
import type { CommandContext } from '../command.ts';
import type { Config } from './config.ts';

/** Queue of distributed runs, and its database. */
export interface OpenQueue {
  database: QueueDatabase;
  queue: RunQueue;
  /** Rate of requests to the service, shared by all processes that use the queue. */
  rate: SharedRate;
}

/**
 * Opens the queue, uses it, and closes it.
 * @throws EvidenceError `config` if none is configured.
 */
export async function withQueue<T>(
  { queue: place }: Pick<Config, 'queue'>,
  { printer, signal }: Pick<CommandContext, 'printer' | 'signal'>,
  use: (queue: OpenQueue) => Promise<T>,
  { supervises = false }: { supervises?: boolean } = {},
): Promise<T> {
  if (place === null)
    throw new EvidenceError('config', 'no queue is configured', {
      nextStep:
        'Set EVIDENCE_QUEUE_URL, or queue.url_file in evidence.yaml, to the PostgreSQL database shared by all machines; see: evidence help distributed.',
    });
  printer.keepSecret(place.url);
  const { password } = new URL(place.url);
  if (password !== '') printer.keepSecret(decodeURIComponent(password));
  await using database = new QueueDatabase({ ...place, signal, note: (line) => printer.note(line) });
  await using queue = await RunQueue.open(database, { supervises });
  return await use({ database, queue, rate: new DatabaseRate(database, signal) });
}

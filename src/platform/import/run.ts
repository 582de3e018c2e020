import { EvidenceError, messageOf } from '../../core/errors.ts';
import { EntryQueue } from './queue.ts';
import { type ImportResult, ImportTally } from './result.ts';
import { connectAuditService } from './service.ts';

export interface ServiceOptions {
  /** Base of the audit service, e.g. `http://127.0.0.1:8181/audit`. */
  url: string;
  apiKey: string;
}

/** Reads events from somewhere and adds them to the queue, in the order in which they happened. */
export type EventSource = (queue: EntryQueue, tally: ImportTally) => Promise<void>;

/**
 * Runs an import to its end. A source that turns out to be unreadable half-way does not undo what came before it: that
 * is recorded, and the error says how much it was.
 */
export async function runImport(options: ServiceOptions, sources: readonly EventSource[]): Promise<ImportResult> {
  const service = connectAuditService(options.url, options.apiKey);
  const tally = new ImportTally();
  const queue = new EntryQueue(service, tally);
  try {
    for (const source of sources) {
      await source(queue, tally).catch(async (error: unknown) => {
        if (error instanceof EvidenceError && error.code === 'unreadable') await queue.flush();
        throw error;
      });
    }
    await queue.flush();
    return tally.toResult();
  } catch (error) {
    throw withProgress(error, tally);
  } finally {
    await service.close();
  }
}

function withProgress(error: unknown, tally: ImportTally): unknown {
  if (!(error instanceof EvidenceError)) return error;
  const { created, repeated } = tally.toResult();
  if (created + repeated === 0) return error;
  return new EvidenceError(
    error.code,
    `${messageOf(error)}. Before that ${created} entries were recorded and ${repeated} were already there; they stay.`,
    {
      nextStep: error.nextStep ?? 'Run the same import again: it continues, and records nothing twice.',
      cause: error,
    },
  );
}

import { EvidenceError, messageOf } from '../../core/errors.ts';
import { contentDigest, withImportKey } from './import-key.ts';
import { type ImportResult, ImportTally } from './result.ts';
import {
  type BatchOutcome,
  connectAuditService,
  type EntryReceiver,
  type ImportedEntry,
  MAX_BATCH_BYTES,
  MAX_BATCH_ENTRIES,
} from './service.ts';

/** Room for `{"entries":[…]}` around the entries. */
const ENVELOPE_BYTES = 64;
/** Limit of all waiting entries, which bounds memory if a source has very many streams. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

interface Waiting {
  entries: string[];
  bytes: number;
}

/**
 * Collects entries into batches. A batch contains entries of one stream only, because the service reports how many of a
 * batch were new, but not which. Keeps the order of `add` within a stream.
 */
export class EntryQueue {
  readonly #service: EntryReceiver;
  readonly #tally: ImportTally;
  readonly #streams = new Map<string, Waiting>();
  /** Entries that streams already had, by stream and by the id of the event. */
  readonly #imported = new Map<string, ReadonlyMap<string, string>>();
  #waitingBytes = 0;

  constructor(service: EntryReceiver, tally: ImportTally) {
    this.#service = service;
    this.#tally = tally;
  }

  async add(event: ImportedEntry): Promise<void> {
    const entry = withImportKey(event);
    if (await this.#isRecorded(entry)) return;
    const json = JSON.stringify(entry);
    const bytes = Buffer.byteLength(json) + 1;
    if (bytes > MAX_BATCH_BYTES - ENVELOPE_BYTES) {
      this.#tally.skip('events larger than 8 MiB, the limit of a request');
      return;
    }
    const waiting = this.#streams.get(entry.stream_id) ?? { entries: [], bytes: 0 };
    if (waiting.entries.length === MAX_BATCH_ENTRIES || waiting.bytes + bytes > MAX_BATCH_BYTES - ENVELOPE_BYTES)
      await this.#send(entry.stream_id, waiting);
    waiting.entries.push(json);
    waiting.bytes += bytes;
    this.#waitingBytes += bytes;
    this.#streams.set(entry.stream_id, waiting);
    if (this.#waitingBytes > MAX_WAITING_BYTES) await this.#sendLargest();
  }

  /** Counts an entry that the stream already had before this run. */
  async #isRecorded(entry: ImportedEntry): Promise<boolean> {
    const { stream_id, idempotency_key } = entry;
    const imported = this.#imported.get(stream_id) ?? (await this.#service.imported(stream_id));
    this.#imported.set(stream_id, imported);
    const digest = imported.get(idempotency_key);
    if (digest === undefined) return false;
    if (digest === contentDigest(entry)) this.#tally.recorded(stream_id, 0, 1);
    else this.#tally.skip(reasonOf({ outcome: 'conflict' }));
    return true;
  }

  async flush(): Promise<void> {
    for (const [streamId, waiting] of this.#streams) await this.#send(streamId, waiting);
    this.#streams.clear();
  }

  async #sendLargest(): Promise<void> {
    let largest: [string, Waiting] | undefined;
    for (const candidate of this.#streams) {
      if (largest === undefined || candidate[1].bytes > largest[1].bytes) largest = candidate;
    }
    if (largest !== undefined) await this.#send(...largest);
  }

  async #send(streamId: string, waiting: Waiting): Promise<void> {
    const entries = waiting.entries.splice(0);
    this.#waitingBytes -= waiting.bytes;
    waiting.bytes = 0;
    await this.#record(streamId, entries);
  }

  /**
   * Records a batch. The service refuses a batch because of a single entry, so the batch is halved until that entry is
   * found. An event whose details changed since the first run (a reinstall changes the time of npm's lockfile) must not
   * stop the others.
   */
  async #record(streamId: string, entries: readonly string[]): Promise<void> {
    if (entries.length === 0) return;
    const answer = await this.#service.record(entries);
    if (answer.outcome === 'recorded') {
      this.#tally.recorded(streamId, answer.created, answer.repeated);
    } else if (entries.length === 1) {
      this.#tally.skip(reasonOf(answer));
    } else {
      const middle = Math.ceil(entries.length / 2);
      await this.#record(streamId, entries.slice(0, middle));
      await this.#record(streamId, entries.slice(middle));
    }
  }
}

/** Returns the reason why an event that was sent alone is skipped. */
function reasonOf(answer: Exclude<BatchOutcome, { outcome: 'recorded' }>): string {
  if (answer.outcome === 'refused') return `events that the service refused: ${answer.reason}`;
  return 'events already recorded with different details, which were not changed';
}

export interface ServiceOptions {
  /** Base URL of the audit service, e.g. `http://127.0.0.1:8181/audit`. */
  url: string;
  apiKey: string;
}

/** Source of events, which adds them to the queue in the order in which they happened. */
export type EventSource = (queue: EntryQueue, tally: ImportTally) => Promise<void>;

/**
 * Runs an import to its end. If a source becomes unreadable halfway, earlier events stay recorded, and the error
 * reports how many.
 */
export async function runImport(options: ServiceOptions, sources: readonly EventSource[]): Promise<ImportResult> {
  const service = connectAuditService(options.url, options.apiKey);
  const tally = new ImportTally();
  const queue = new EntryQueue(service, tally);
  try {
    for (const source of sources)
      await source(queue, tally).catch(async (error: unknown) => {
        if (error instanceof EvidenceError && error.code === 'unreadable') await queue.flush();
        throw error;
      });
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
    `${messageOf(error)}. Before that, ${created} entries were recorded and ${repeated} already existed; they are kept.`,
    {
      nextStep: error.nextStep ?? 'Run the same import again; it continues and records nothing twice.',
      cause: error,
    },
  );
}

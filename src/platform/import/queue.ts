import type { ImportedEntry } from './entry.ts';
import type { ImportTally } from './result.ts';
import { type BatchOutcome, type EntryReceiver, MAX_BATCH_BYTES, MAX_BATCH_ENTRIES } from './service.ts';

/** Room for `{"entries":[…]}` around the entries. */
const ENVELOPE_BYTES = 64;
/** All waiting entries together; bounds memory when a source has very many streams. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

interface Waiting {
  entries: string[];
  bytes: number;
}

/**
 * Collects entries into batches. A batch holds entries of one stream only, because the service says how many of a
 * batch were new, not which. Within a stream the order of `add` is kept.
 */
export class EntryQueue {
  readonly #service: EntryReceiver;
  readonly #tally: ImportTally;
  readonly #streams = new Map<string, Waiting>();
  #waitingBytes = 0;

  constructor(service: EntryReceiver, tally: ImportTally) {
    this.#service = service;
    this.#tally = tally;
  }

  async add(entry: ImportedEntry): Promise<void> {
    const json = JSON.stringify(entry);
    const bytes = Buffer.byteLength(json) + 1;
    if (bytes > MAX_BATCH_BYTES - ENVELOPE_BYTES) {
      this.#tally.skip('events larger than the 8 MiB that the service takes in one request');
      return;
    }
    const waiting = this.#streams.get(entry.stream_id) ?? { entries: [], bytes: 0 };
    if (waiting.entries.length === MAX_BATCH_ENTRIES || waiting.bytes + bytes > MAX_BATCH_BYTES - ENVELOPE_BYTES) {
      await this.#send(entry.stream_id, waiting);
    }
    waiting.entries.push(json);
    waiting.bytes += bytes;
    this.#waitingBytes += bytes;
    this.#streams.set(entry.stream_id, waiting);
    if (this.#waitingBytes > MAX_WAITING_BYTES) await this.#sendLargest();
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
   * The whole batch is refused for one of its entries, so it is halved until that one is found. That an
   * event is told differently the second time (a reinstall moves the time of npm's lockfile) must not stop the rest.
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

/** Says why an event that was sent alone is left out. */
function reasonOf(answer: Exclude<BatchOutcome, { outcome: 'recorded' }>): string {
  if (answer.outcome === 'refused') return `events that the service does not take: ${answer.reason}`;
  return 'events recorded earlier with other details, which stay as they were recorded';
}

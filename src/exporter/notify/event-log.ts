import type { Printer } from '../../core/terminal/printer.ts';
import type { SentRequest } from '../client/call.ts';
import type { ExportEvent } from '../export/events.ts';
import type { NotificationChannel } from './channel.ts';

const AMISS: ReadonlySet<ExportEvent['type']> = new Set(['failed', 'step-failed', 'supplement-missing']);

/** Writes the events of an export to stderr for programs, and with `--verbose` also its requests. */
export class EventLog implements NotificationChannel {
  readonly name = 'log';
  readonly #printer: Pick<Printer, 'event' | 'verbose'>;
  /** Id of the run; null until it is planned. */
  #runId: string | null = null;

  constructor(printer: Pick<Printer, 'event' | 'verbose'>) {
    this.#printer = printer;
  }

  listen(event: ExportEvent, runId: string | null): void {
    if (event.type === 'planned') this.#runId = event.runId;
    // Leaves out `entryCounts`: one count for each stream is too long for a line.
    const { type, entryCounts: _counts, ...fields } = { entryCounts: null, ...event };
    // An export receives thousands of packages.
    if (type === 'received') return;
    const level = AMISS.has(type) ? 'error' : 'info';
    this.#printer.event(type, { ...inSnakeCase(fields), run_id: runId ?? this.#runId }, level);
  }

  request({ startedAt, endedAt, ...request }: SentRequest, streamId: string | null): void {
    if (!this.#printer.verbose) return;
    const fields = { run_id: this.#runId, stream_id: streamId, ...inSnakeCase(request) };
    this.#printer.event('request', { ...fields, milliseconds: endedAt.getTime() - startedAt.getTime() }, 'debug');
  }

  async end(): Promise<void> {}
}

function inSnakeCase(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

import { plural } from '../../../core/plurals.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import type { ExportEvent, JobStep, Listener } from '../../export/events.ts';
import { LiveLines } from './live-lines.ts';

/** Names of steps in progress. */
const STEPS: Record<JobStep, string> = {
  'vendor-verify': 'being checked by the service',
  generate: 'package being generated',
  wait: 'waiting for the package',
  json: 'JSON',
  pdf: 'PDF',
  summary: 'summary',
  listing: 'listing',
  examine: 'claims',
  bundle: 'bundle',
  archive: 'archive',
  record: 'record',
};

interface Active {
  step: string;
  bytes: number;
  since: number;
}

const FRAME_MS = 100;
/**
 * Maximum number of streams that get a line each. For more, a line is printed for every tenth of them, and for the
 * first failures.
 */
const FEW = 24;
const FAILURES_TOLD = 10;

/** Shows the progress of an export on stderr: live lines on a terminal, and permanent lines, few enough for a log. */
export class Progress {
  readonly #printer: Printer;
  readonly #live: LiveLines;
  readonly #active = new Map<string, Active>();
  #total = 0;
  #ended = 0;
  #done = 0;
  #bytes = 0;
  #since = 0;
  #failed = 0;
  #told = 0;
  #drawnAt = 0;

  constructor(printer: Printer) {
    this.#printer = printer;
    this.#live = new LiveLines(printer);
  }

  readonly listen: Listener = (event) => {
    this.#follow(event);
    if (this.#live.isShown) this.#draw(event.type === 'received');
  };

  /** Removes the live lines. */
  [Symbol.dispose](): void {
    this.#live.takeBack();
  }

  /** Describes how far the run has been exported. */
  standing(): string {
    const left = this.#total - this.#ended;
    return `${plural(this.#done + this.#ended - this.#failed, 'stream')} archived, ${this.#failed} failed, ${left} left.`;
  }

  #follow(event: ExportEvent): void {
    switch (event.type) {
      case 'planned':
        this.#total = event.streams;
        this.#done = event.done;
        this.#since = performance.now();
        this.#say(sayPlan(event));
        break;
      case 'collecting':
      case 'collected':
      case 'supplement-missing':
        this.#followSupplement(event);
        break;
      case 'started':
        this.#active.set(event.streamId, { step: '', bytes: 0, since: performance.now() });
        break;
      case 'step': {
        const active = this.#active.get(event.streamId);
        if (active !== undefined) active.step = STEPS[event.step];
        this.#printer.detail(`  ${event.streamId}: ${STEPS[event.step]}`);
        break;
      }
      case 'received':
        this.#receive(event.streamId, event.bytes);
        break;
      case 'step-failed':
        this.#sayAmiss(`  ${event.streamId}: ${STEPS[event.step]}: ${event.message}`);
        break;
      case 'finished':
        this.#finish(event);
        break;
      case 'failed':
        this.#failed++;
        this.#end(event.streamId, `FAILED: ${event.reason}`, { isAmiss: true });
        break;
      case 'finalized':
        break;
    }
  }

  #followSupplement(event: Extract<ExportEvent, { service: string }>): void {
    const { service } = event;
    if (event.type === 'collecting') this.#printer.detail(`  ${service}: supplement`);
    else if (event.type === 'supplement-missing') this.#say(`  ${service}: supplement MISSING: ${event.reason}`);
    else this.#say(`  ${service}: supplement, ${plural(event.answers, 'answer')}, ${formatBytes(event.bytes)}`);
  }

  #receive(streamId: string, bytes: number): void {
    const active = this.#active.get(streamId);
    if (active !== undefined) active.bytes += bytes;
    this.#bytes += bytes;
  }

  #finish({ streamId, partial, status, entries }: Extract<ExportEvent, { type: 'finished' }>): void {
    const isAmiss = partial || status === 'incomplete' || status === 'refuted';
    this.#end(streamId, `${partial ? 'PARTIAL, ' : ''}${status}, ${plural(entries, 'entry')}`, { isAmiss });
  }

  #end(streamId: string, words: string, { isAmiss }: { isAmiss: boolean }): void {
    this.#active.delete(streamId);
    this.#ended++;
    const line = `  ${this.#ended}/${this.#total} ${streamId}: ${words}`;
    if (this.#tellsEach) this.#say(line);
    else {
      if (isAmiss) this.#sayAmiss(line);
      const tenths = (ended: number) => Math.floor((ended * 10) / this.#total);
      if (tenths(this.#ended) > tenths(this.#ended - 1))
        this.#say(
          `  ${this.#ended} of ${plural(this.#total, 'stream')}${this.#failed > 0 ? `, ${this.#failed} failed` : ''}`,
        );
    }
  }

  get #tellsEach(): boolean {
    return this.#total <= FEW || this.#printer.verbose;
  }

  /** Prints the first failures only; the end of the export lists all of them by cause. */
  #sayAmiss(line: string): void {
    this.#told++;
    if (this.#tellsEach || this.#told <= FAILURES_TOLD) this.#say(line);
    else if (this.#told === FAILURES_TOLD + 1) this.#say('  … more of this kind; the summary lists them by cause.');
  }

  #say(line: string): void {
    this[Symbol.dispose]();
    // A JSON log has the events themselves.
    if (!this.#printer.logsJson) this.#printer.note(line);
  }

  #draw(mayWait: boolean): void {
    const now = performance.now();
    if (mayWait && now - this.#drawnAt < FRAME_MS) return;
    this.#drawnAt = now;
    const lines = [...this.#active].map(
      ([streamId, active]) => `    ${streamId}  ${active.step}  ${formatBytes(active.bytes)}`,
    );
    const seconds = (now - this.#since) / 1000;
    const left =
      this.#ended > 0 ? `, about ${Math.ceil((seconds / this.#ended) * (this.#total - this.#ended))} s left` : '';
    const rate = seconds > 0 ? `${formatBytes(this.#bytes / seconds)}/s` : '';
    lines.push(`  ${this.#ended} of ${this.#total} streams, ${formatBytes(this.#bytes)} ${rate}${left}`);
    this.#live.show(lines);
  }
}

function sayPlan({ runId, streams, done, excluded }: Extract<ExportEvent, { type: 'planned' }>): string {
  const others = [...(done > 0 ? [`, ${done} already done`] : []), ...(excluded > 0 ? [`, ${excluded} excluded`] : [])];
  return `Run ${runId}: ${plural(streams, 'stream')} to export${others.join('')}`;
}

/** Formats bytes in binary units with one decimal. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

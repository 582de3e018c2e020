import { plural } from '../../../core/plurals.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import type { RunProgress, WorkerProgress } from '../../queue/progress.ts';
import { LiveLines } from './live-lines.ts';

/** Maximum number of a worker's streams that are listed. */
const STREAMS_NAMED = 4;
/** Seconds without a heartbeat after which a worker is shown as silent. Workers report every five. */
const SILENT_SECONDS = 12;

/**
 * Shows the progress of a distributed run on stderr: live lines on a terminal, and a line for every tenth of its
 * streams.
 */
export class WatchedRun {
  readonly #printer: Printer;
  readonly #live: LiveLines;
  #tenths = -1;

  constructor(printer: Printer) {
    this.#printer = printer;
    this.#live = new LiveLines(printer);
  }

  show(progress: RunProgress): void {
    this[Symbol.dispose]();
    const tenths = Math.floor((endedOf(progress) * 10) / Math.max(1, progress.streams));
    if (tenths > this.#tenths) this.#printer.note(describeProgress(progress));
    this.#tenths = tenths;
    if (progress.state !== 'ended') this.#live.show([...workerLines(progress), describeProgress(progress)]);
  }

  /** Removes the live lines. */
  [Symbol.dispose](): void {
    this.#live.takeBack();
  }
}

function endedOf({ recorded, incomplete, failed }: RunProgress): number {
  return recorded + incomplete + failed;
}

/** Describes a run in one line: number and outcomes of its ended streams, rate, and time left. */
export function describeProgress(progress: RunProgress): string {
  const { runId, state, streams, incomplete, failed, perSecond, secondsLeft } = progress;
  const amiss = [...(incomplete > 0 ? [`${incomplete} incomplete`] : []), ...(failed > 0 ? [`${failed} failed`] : [])];
  const left =
    secondsLeft === null ? '' : `, ${perSecond.toFixed(1)} a second, about ${describeSeconds(secondsLeft)} left`;
  const end = { exporting: left, concluding: '; being finalized', ended: '; ended' }[state];
  return `Run ${runId}: ${endedOf(progress)} of ${plural(streams, 'stream')} done${amiss.length > 0 ? `, including ${amiss.join(' and ')}` : ''}${end}`;
}

/** Returns a line for every worker: its last heartbeat and what it holds. */
export function workerLines({ workers }: RunProgress): string[] {
  return workers.map((worker) => `  ${worker.name}  ${describeWorker(worker)}`);
}

function describeWorker(worker: WorkerProgress): string {
  const { secondsSilent } = worker;
  const work = describeWork(worker);
  if (secondsSilent !== null && secondsSilent <= SILENT_SECONDS) return work ?? 'idle';
  const silence = `no heartbeat${secondsSilent === null ? '' : ` for ${describeSeconds(secondsSilent)}`}`;
  return work === null ? silence : `${silence}; streams to reassign: ${work}`;
}

/** Returns null if the worker holds nothing. */
function describeWork({ streams, concludes }: WorkerProgress): string | null {
  const named = streams.slice(0, STREAMS_NAMED).map(({ streamId, seconds, tries }) => {
    const again = tries > 1 ? `, try ${tries}` : '';
    return `${streamId} (${describeSeconds(seconds)}${again})`;
  });
  const more = streams.length > named.length ? [`and ${streams.length - named.length} more`] : [];
  const held = [...(concludes ? ['finalizing the run'] : []), ...named, ...more];
  return held.length === 0 ? null : held.join(', ');
}

function describeSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

import { plural } from '../../../core/plurals.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import type { RunProgress, WorkerProgress } from '../../queue/progress.ts';
import { LiveLines } from './live-lines.ts';

/** Streams of a worker that are named. */
const STREAMS_NAMED = 4;
/** Seconds after which a worker is said to be silent: it says every five that it lives. */
const SILENT_SECONDS = 12;

/** Tells on stderr how a run goes that workers work on: live lines on a terminal, and a line for every tenth part of it. */
export class WatchedRun {
  readonly #printer: Printer;
  readonly #live: LiveLines;
  #tenths = -1;

  constructor(printer: Printer) {
    this.#printer = printer;
    this.#live = new LiveLines(printer);
  }

  show(progress: RunProgress): void {
    this.close();
    const tenths = Math.floor((endedOf(progress) * 10) / Math.max(1, progress.streams));
    if (tenths > this.#tenths) this.#printer.note(describeProgress(progress));
    this.#tenths = tenths;
    if (progress.state !== 'ended') this.#live.show([...workerLines(progress), describeProgress(progress)]);
  }

  /** Takes the live lines back. */
  close(): void {
    this.#live.takeBack();
  }
}

function endedOf({ recorded, incomplete, failed }: RunProgress): number {
  return recorded + incomplete + failed;
}

/** One line on a run: how many of its streams have ended, how, how fast, and when the rest will have. */
export function describeProgress(progress: RunProgress): string {
  const { runId, state, streams, incomplete, failed, perSecond, secondsLeft } = progress;
  const amiss = [...(incomplete > 0 ? [`${incomplete} incomplete`] : []), ...(failed > 0 ? [`${failed} failed`] : [])];
  const left =
    secondsLeft === null ? '' : `, ${perSecond.toFixed(1)} a second, about ${describeSeconds(secondsLeft)} left`;
  const end = { exporting: left, concluding: '; being concluded', ended: '; ended' }[state];
  return `Run ${runId}: ${endedOf(progress)} of ${plural(streams, 'stream')} done${amiss.length > 0 ? `, of them ${amiss.join(' and ')}` : ''}${end}`;
}

/** A line for every worker: when it was heard of, and what it holds. */
export function workerLines({ workers }: RunProgress): string[] {
  return workers.map((worker) => `  ${worker.name}  ${describeWorker(worker)}`);
}

function describeWorker(worker: WorkerProgress): string {
  const { secondsSilent } = worker;
  const work = describeWork(worker);
  if (secondsSilent !== null && secondsSilent <= SILENT_SECONDS) return work ?? 'idle';
  const silence = `not heard of${secondsSilent === null ? '' : ` for ${describeSeconds(secondsSilent)}`}`;
  return work === null ? silence : `${silence}; to be given to others: ${work}`;
}

/** Null where it holds nothing. */
function describeWork({ streams, concludes }: WorkerProgress): string | null {
  const named = streams.slice(0, STREAMS_NAMED).map(({ streamId, seconds, tries }) => {
    const again = tries > 1 ? `, try ${tries}` : '';
    return `${streamId} (${describeSeconds(seconds)}${again})`;
  });
  const more = streams.length > named.length ? [`and ${streams.length - named.length} more`] : [];
  const held = [...(concludes ? ['concludes the run'] : []), ...named, ...more];
  return held.length === 0 ? null : held.join(', ');
}

function describeSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

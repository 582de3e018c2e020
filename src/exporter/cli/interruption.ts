import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { EvidenceError } from '../../core/errors.ts';
import { INCOMPLETE } from '../../core/terminal/crash.ts';

export interface Interruption {
  signal: AbortSignal;
  /** Returns 129, 130 or 143 after a signal, 3 after memory was full or a deadline was reached, otherwise null. */
  exitCode(): number | null;
  /**
   * Ends the work as incomplete when this time since the start of the process is over. @param why in the past tense.
   */
  endAfter(milliseconds: number, why: string): void;
  dispose(): void;
}

/** Signals by which a user, the system or a closed terminal ends the program. */
const SIGNALS = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** Time for a clean shutdown after the first signal. */
const GRACE_MS = 5000;
const RESUME = 'Run the same command again to resume.';

/**
 * Handles interruptions. The first Ctrl-C, SIGTERM or SIGHUP ends the work cleanly within 5 s, as do full memory and a
 * deadline; a second signal ends it at once.
 */
export function onInterruption(): Interruption {
  const controller = new AbortController();
  let code: number | null = null;
  const stop = (exitCode: number, why: string, nextStep: string) => {
    code = exitCode;
    setTimeout(() => process.exit(exitCode), GRACE_MS).unref();
    controller.abort(new EvidenceError('interrupted', `${why}; archived bundles are kept`, { nextStep }));
  };
  const onSignal = (exitCode: number) => () => {
    if (code !== null) process.exit(exitCode);
    stop(exitCode, 'interrupted', RESUME);
  };
  const onFull = (limitMb: number) => {
    if (code !== null) return;
    const more = `NODE_OPTIONS=--max-old-space-size=${2 * limitMb}`;
    const nextStep = `Run the same command again with more memory: ${more}.`;
    stop(INCOMPLETE, `Node.js reached its memory limit of ${limitMb} MiB`, nextStep);
  };
  const endWatch = watchHeap(onFull);
  let deadline: NodeJS.Timeout | undefined;
  const handlers = SIGNALS.map(([signal, exitCode]) => [signal, onSignal(exitCode)] as const);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return {
    signal: controller.signal,
    exitCode: () => code,
    endAfter: (milliseconds, why) => {
      deadline = setTimeout(
        () => {
          if (code === null) stop(INCOMPLETE, why, RESUME);
        },
        Math.max(0, milliseconds - performance.now()),
      ).unref();
    },
    dispose: () => {
      endWatch();
      clearTimeout(deadline);
      for (const [signal, handler] of handlers) process.off(signal, handler);
    },
  };
}

/**
 * Fraction of the heap limit that ends the work if a full collection leaves more in use. At the limit, V8 aborts the
 * process with a native stack.
 */
const TOO_MUCH = 0.85;

/**
 * Watches the heap of this process.
 * @param onFull called with the limit in MiB if a full collection leaves little room.
 * @returns a function that ends the watch.
 */
function watchHeap(onFull: (limitMb: number) => void): () => void {
  const limit = limitOf(getHeapStatistics().heap_size_limit);
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isFullCollection)) return;
    if (getHeapStatistics().used_heap_size > TOO_MUCH * limit) onFull(Math.round(limit / MIB));
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

const MIB = 2 ** 20;

/**
 * Returns the heap limit. V8's stated limit includes the maximum of the young generation, which exceeds a small limit
 * set by flags.
 */
function limitOf(stated: number): number {
  const flags = `${process.env['NODE_OPTIONS'] ?? ''} ${process.execArgv.join(' ')}`;
  const set = [...flags.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)].at(-1);
  return set === undefined ? stated : Math.min(stated, Number(set[1]) * MIB);
}

function isFullCollection(entry: PerformanceEntry & { detail?: { kind?: number } }): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

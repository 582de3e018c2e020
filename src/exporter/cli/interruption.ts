import { EvidenceError } from '../../core/errors.ts';
import { INCOMPLETE } from '../../core/terminal/crash.ts';
import { watchHeap } from './memory.ts';

export interface Interruption {
  signal: AbortSignal;
  /** 129, 130 or 143 once a signal came, 3 once the memory was full, else null. */
  exitCode(): number | null;
  /** From now on, ends the work when the memory is full. */
  watchMemory(): void;
  /** Ends the work once so much time has passed since the process started, as incomplete. @param why in the past tense. */
  endAfter(milliseconds: number, why: string): void;
  dispose(): void;
}

/** Signals by which a user, the system or a terminal that is gone ends the program. */
const SIGNALS = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** The time that a first signal waits for a clean end. */
const GRACE_MS = 5000;
const RESUME = 'Run the same command again to resume.';

/**
 * The first Ctrl-C, SIGTERM or SIGHUP ends the work cleanly within 5 s, as full memory and a deadline do; a second signal
 * ends it at once.
 */
// Over 40 lines: everything that ends the work, and how.
export function onInterruption(): Interruption {
  const controller = new AbortController();
  let code: number | null = null;
  const stop = (exitCode: number, why: string, nextStep: string) => {
    code = exitCode;
    setTimeout(() => process.exit(exitCode), GRACE_MS).unref();
    controller.abort(new EvidenceError('interrupted', `${why}; what is archived stays`, { nextStep }));
  };
  const onSignal = (exitCode: number) => () => {
    if (code !== null) process.exit(exitCode);
    stop(exitCode, 'interrupted', RESUME);
  };
  const onFull = (limitMb: number) => {
    if (code !== null) return;
    const more = `NODE_OPTIONS=--max-old-space-size=${2 * limitMb}`;
    const nextStep = `Run the same command again with more memory: ${more}.`;
    stop(INCOMPLETE, `the ${limitMb} MiB of memory that Node.js may use are full`, nextStep);
  };
  let endWatch = () => {};
  let deadline: NodeJS.Timeout | undefined;
  const handlers = SIGNALS.map(([signal, exitCode]) => [signal, onSignal(exitCode)] as const);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return {
    signal: controller.signal,
    exitCode: () => code,
    watchMemory: () => {
      endWatch();
      endWatch = watchHeap(onFull);
    },
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

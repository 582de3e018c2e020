import { EvidenceError } from '../../core/errors.ts';

export interface Interruption {
  signal: AbortSignal;
  /** 129, 130 or 143 once a signal came, else null. */
  exitCode(): number | null;
  dispose(): void;
}

/** What a user, the system or a terminal that is gone ends the program by. */
const SIGNALS = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** How long a first signal waits for a clean end. */
const GRACE_MS = 5000;

/** The first Ctrl-C, SIGTERM or SIGHUP ends the work cleanly within 5 s; a second one ends it at once. */
export function onInterruption(): Interruption {
  const controller = new AbortController();
  let code: number | null = null;
  const stop = (exitCode: number) => () => {
    if (code !== null) process.exit(exitCode);
    code = exitCode;
    setTimeout(() => process.exit(exitCode), GRACE_MS).unref();
    controller.abort(
      new EvidenceError('interrupted', 'interrupted; what is archived stays', {
        nextStep: 'Run the same command again to resume.',
      }),
    );
  };
  const handlers = SIGNALS.map(([signal, exitCode]) => [signal, stop(exitCode)] as const);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return {
    signal: controller.signal,
    exitCode: () => code,
    dispose: () => {
      for (const [signal, handler] of handlers) process.off(signal, handler);
    },
  };
}

import { EvidenceError } from '../../core/errors.ts';

export interface Interruption {
  signal: AbortSignal;
  /** 130 or 143 once a signal came, else null. */
  exitCode(): number | null;
  dispose(): void;
}

/** How long a first signal waits for a clean end. */
const GRACE_MS = 5000;

/** The first Ctrl-C or SIGTERM ends the work cleanly within 5 s; a second one ends it at once. */
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
  const [onInt, onTerm] = [stop(130), stop(143)];
  process.on('SIGINT', onInt);
  process.on('SIGTERM', onTerm);
  return {
    signal: controller.signal,
    exitCode: () => code,
    dispose: () => {
      process.off('SIGINT', onInt);
      process.off('SIGTERM', onTerm);
    },
  };
}

import { type FailureListener, FailuresInARow } from './failures.ts';

/** The time between looks at whether something is due. */
const LOOK_MS = 1000;

/** A function that looks again and again. */
export interface Looking {
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/** Looks now and every second, unless it still does what it found the last time. */
export function keepLooking(lookOnce: () => Promise<unknown>, listener: FailureListener): Looking {
  const failures = new FailuresInARow(listener);
  let running: Promise<unknown> | null = null;
  const look = () => {
    running ??= lookOnce()
      .then(
        () => failures.succeeded(),
        (error) => failures.failed(error),
      )
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(look, LOOK_MS);
  look();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

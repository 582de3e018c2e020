/** How often it is looked whether something is due. */
const LOOK_MS = 1000;

/** What looks again and again. */
export interface Looking {
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/** Looks now and every second, unless it still does what it found the last time. */
export function keepLooking(lookOnce: () => Promise<unknown>, onFailure: (error: unknown) => void): Looking {
  let running: Promise<unknown> | null = null;
  const look = () => {
    running ??= lookOnce()
      .catch(onFailure)
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

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Time after which the scan yields to the event loop. */
const SLICE_MS = 20;
/** Minimum pause if reading was faster than the limit. */
const SHORTEST_NAP_MS = 5;

/** Limits the speed of a scan. Bytes are reported after they were read. */
export interface ReadingPace {
  /** @returns a promise to wait for, or nothing. */
  took(bytes: number): Promise<unknown> | undefined;
}

/** @param bytesPerSecond maximum rate; null for no limit. */
export function paceOf(bytesPerSecond: number | null): ReadingPace {
  const started = performance.now();
  let bytes = 0;
  let turned = started;
  return {
    took(more) {
      bytes += more;
      const now = performance.now();
      const early = bytesPerSecond === null ? 0 : started + (bytes / bytesPerSecond) * 1000 - now;
      if (early < SHORTEST_NAP_MS && now - turned < SLICE_MS) return undefined;
      turned = now + Math.max(0, early);
      return early < SHORTEST_NAP_MS ? turn() : sleep(early);
    },
  };
}

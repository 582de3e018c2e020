import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** The process does other things after so long. */
const SLICE_MS = 20;
/** The shortest pause after a disk was faster than the limit. */
const SHORTEST_NAP_MS = 5;

/** Limits the speed of a scan. It is told of bytes after they were read. */
export interface ReadingPace {
  /** @returns what to wait for, or nothing. */
  took(bytes: number): Promise<unknown> | undefined;
}

/** @param bytesPerSecond at most; as fast as it goes for null. */
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

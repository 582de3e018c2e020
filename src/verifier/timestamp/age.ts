import type { TstInfo } from './tst-info.ts';

type Dated = Pick<TstInfo, 'genTime' | 'accuracy'>;

/**
 * The most that two clocks may differ, beyond the accuracy that an authority states for its own; milliseconds. A
 * service and its authority are servers with clocks that are set; an export may run on any machine.
 */
export const CLOCK_TOLERANCE = { service: 5000, exporter: 5 * 60_000 };

/** Reports whether a token is certainly older than what it is over: it says that it was made before that was there. */
export function isOlderThan(says: Dated, moment: Date, tolerance: number): boolean {
  return says.genTime.getTime() + accuracyOf(says) + tolerance < moment.getTime();
}

/** True if a token, its accuracy included, states a time after a moment: the clock of its authority is wrong, or the token is. */
export function isLaterThan(says: Dated, moment: Date, tolerance: number): boolean {
  return says.genTime.getTime() - accuracyOf(says) - tolerance > moment.getTime();
}

/** In milliseconds; 0 where it is not stated. */
export function accuracyOf({ accuracy }: Pick<TstInfo, 'accuracy'>): number {
  if (accuracy === null) return 0;
  return accuracy.seconds * 1000 + accuracy.millis + accuracy.micros / 1000;
}

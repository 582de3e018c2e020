import type { TstInfo } from './tst-info.ts';

type Dated = Pick<TstInfo, 'genTime' | 'accuracy'>;

/**
 * Maximum difference of two clocks in milliseconds, beyond the accuracy that an authority states for its own. A service
 * and its authority are servers with synchronized clocks; an export may run on any machine.
 */
export const CLOCK_TOLERANCE = { service: 5000, exporter: 5 * 60_000 };

/** Reports whether a token is certainly older than `moment`, before which the covered bytes did not exist. */
export function isOlderThan(says: Dated, moment: Date, tolerance: number): boolean {
  return says.genTime.getTime() + accuracyOf(says) + tolerance < moment.getTime();
}

/**
 * Reports whether a token, including its accuracy, states a time after `moment`: the authority's clock or the token is
 * wrong.
 */
export function isLaterThan(says: Dated, moment: Date, tolerance: number): boolean {
  return says.genTime.getTime() - accuracyOf(says) - tolerance > moment.getTime();
}

/** Returns milliseconds; 0 if not stated. */
export function accuracyOf({ accuracy }: Pick<TstInfo, 'accuracy'>): number {
  if (accuracy === null) return 0;
  return accuracy.seconds * 1000 + accuracy.millis + accuracy.micros / 1000;
}

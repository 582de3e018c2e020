import { EvidenceError } from '../core/errors.ts';
import type { RoundResult } from './round.ts';

/** Part of the interval by which a round is earlier or later: endpoints that were started together drift apart. */
const JITTER = 0.1;
/** Seconds until the next round after one that did not arrive; less where the interval is shorter. */
const AFTER_FAILURE = 300;
/** Before the service has said how often it wants to hear. */
const USUAL_INTERVAL = 3600;
const SHORTEST_INTERVAL = 10;
const LONGEST_INTERVAL = 7 * 86_400;

export interface LoopDeps {
  round: () => Promise<RoundResult>;
  tell: (result: RoundResult) => void;
  complain: (error: EvidenceError) => void;
  wait: (milliseconds: number) => Promise<unknown>;
  /** From 0 to 1. */
  random: () => number;
  /** In milliseconds, from anywhere on. */
  now: () => number;
}

/**
 * One round after another, as often as the service wants. What passes by itself or by what a person does in the service does
 * not end it.
 * @throws EvidenceError `config` and `unreadable`, which are to be mended on this machine, and what is no EvidenceError.
 */
export async function runLoop({ round, tell, complain, wait, random, now }: LoopDeps): Promise<never> {
  let interval = USUAL_INTERVAL;
  for (;;) {
    const started = now();
    let pause: number;
    try {
      const result = await round();
      interval = Math.min(LONGEST_INTERVAL, Math.max(SHORTEST_INTERVAL, result.settings.scanIntervalSeconds));
      pause = interval;
      tell(result);
    } catch (error) {
      if (!(error instanceof EvidenceError) || error.code === 'config' || error.code === 'unreadable') throw error;
      complain(error);
      pause = Math.min(interval, AFTER_FAILURE);
    }
    const jittered = Math.round(pause * 1000 * (1 + JITTER * (2 * random() - 1)));
    await wait(Math.max(0, jittered - (now() - started)));
  }
}

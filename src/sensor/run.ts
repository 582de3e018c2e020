import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { EvidenceError, isSystemError, messageOf } from '../core/errors.ts';
import { agree, plural } from '../core/plurals.ts';
import { escapeControls } from '../core/terminal/visible.ts';
import { BaitKeeper } from './bait/keeper.ts';
import { BaitWatch, canWatch } from './bait/watch.ts';
import { connectSensor, type SensorClient } from './client.ts';
import { type RoundResult, runRound, type SensorDeps } from './round.ts';
import { paceOf } from './scan/pace.ts';
import { SensorState } from './state/state.ts';

export interface SensorOptions {
  /** Address of the endpoint service. */
  url: string;
  token: string;
  /** Folder of the sensor's state. */
  state: string;
  once: boolean;
  /** Maximum reading rate; null for no limit. */
  bytesPerSecond: number | null;
}

/**
 * Reports once, or until a signal ends the process. A signal ends it immediately; the next run continues from there.
 */
export async function runSensor({ url, token, state: folder, once, bytesPerSecond }: SensorOptions): Promise<void> {
  await using service = connectSensor({ url, token });
  const deps = sensorDeps({ service, state: folder, bytesPerSecond, canWatch: !once && canWatch() });
  const { bait } = deps;
  const round = () => runRound(deps).catch(nameDisk);
  if (once) return tell(await round());
  using watch = new BaitWatch((path, signs) => bait.look(path, signs).then((problems) => problems.forEach(say), say));
  const watchedRound = async () => {
    try {
      return await round();
    } finally {
      void watch.follow(bait.paths());
    }
  };
  await runLoop({
    round: watchedRound,
    tell,
    complain,
    wait: (ms) => sleep(ms),
    random: Math.random,
    now: () => performance.now(),
  });
}

/** Assembles the dependencies of rounds. @param canWatch true if reads of bait are noticed immediately. */
export function sensorDeps({
  service,
  state: folder,
  bytesPerSecond,
  canWatch,
}: Pick<SensorOptions, 'state' | 'bytesPerSecond'> & { service: SensorClient; canWatch: boolean }): SensorDeps {
  const state = new SensorState(folder);
  return {
    state,
    service,
    bait: new BaitKeeper({ state, service, canWatch }),
    pace: () => paceOf(bytesPerSecond),
    clock: () => new Date(),
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  };
}

/** Turns a system error into one about the disk of the sensor's folder. */
function nameDisk(error: unknown): never {
  if (!isSystemError(error)) throw error;
  throw new EvidenceError('output', `the sensor's folder cannot be written: ${messageOf(error)}`, {
    nextStep: 'Free space there. Nothing is lost: the next run continues.',
    cause: error,
  });
}

function tell({ settings, problems, scanned, accepted }: RoundResult): void {
  problems.forEach(say);
  const { lineCount, bytes, unread, complete } = scanned;
  const { open, raised, resolved } = accepted.events;
  const words = [
    `report ${accepted.next.sequence - 1} of ${settings.name}: ${plural(lineCount, 'path')}, ${plural(bytes, 'byte')} read`,
    ...(unread === 0 ? [] : [`${plural(unread, 'path')} ${agree(unread, 'has', 'have')} no digest`]),
    ...(complete ? [] : ['not every folder could be listed']),
    `${plural(raised, 'event')} raised, ${resolved} resolved, ${open} open`,
    accepted.message,
  ];
  process.stdout.write(`${escapeControls(words.join('; '))}\n`);
}

function say(problem: unknown): void {
  process.stderr.write(`${escapeControls(typeof problem === 'string' ? problem : messageOf(problem))}\n`);
}

function complain(error: EvidenceError): void {
  const next = error.nextStep === undefined ? '' : ` ${error.nextStep}`;
  process.stderr.write(`${escapeControls(`${error.message}.${next}`)}\n`);
}

/** Fraction of the interval by which rounds vary, so that endpoints started together drift apart. */
const JITTER = 0.1;
/** Seconds until the next round after a failed one, unless the interval is shorter. */
const AFTER_FAILURE = 300;
/** Interval before the service has stated one. */
const USUAL_INTERVAL = 3600;
const SHORTEST_INTERVAL = 10;
const LONGEST_INTERVAL = 7 * 86_400;

interface LoopDeps {
  round: () => Promise<RoundResult>;
  tell: (result: RoundResult) => void;
  complain: (error: EvidenceError) => void;
  wait: (milliseconds: number) => Promise<unknown>;
  /** Returns a random number from 0 to 1. */
  random: () => number;
  /** Returns milliseconds of a monotonic clock. */
  now: () => number;
}

/**
 * Runs rounds at the interval that the service wants. Failures that pass by themselves or by an action in the service
 * do not end the loop.
 * @throws EvidenceError `config` and `unreadable`, which must be fixed on this machine; any other error unchanged.
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

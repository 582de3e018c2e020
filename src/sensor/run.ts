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
  /** The address of the endpoint service. */
  url: string;
  token: string;
  /** The folder of its state. */
  state: string;
  once: boolean;
  /** At most; as fast as it goes for null. */
  bytesPerSecond: number | null;
}

/**
 * Reports once, or until it is ended. A signal ends it at once: whatever it was doing, the next run goes on from there.
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

/** The tools of rounds. @param canWatch true if reads of bait are seen at once. */
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

/** The disk under the folder of the sensor fails, or is full. */
function nameDisk(error: unknown): never {
  if (!isSystemError(error)) throw error;
  throw new EvidenceError('output', `the folder of the sensor cannot be written: ${messageOf(error)}`, {
    nextStep: 'Make room there. Nothing is lost: the next run goes on.',
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

/** Part of the interval by which a round is earlier or later: endpoints that were started together drift apart. */
const JITTER = 0.1;
/** Seconds until the next round after one that did not arrive; less where the interval is shorter. */
const AFTER_FAILURE = 300;
/** Before the service has said how often it wants to hear. */
const USUAL_INTERVAL = 3600;
const SHORTEST_INTERVAL = 10;
const LONGEST_INTERVAL = 7 * 86_400;

interface LoopDeps {
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

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnvironment } from '../support/environment.ts';
import { finish } from '../support/process.ts';

/** A program to measure, with a check of its output, because figures of a program that did other work mean nothing. */
export interface Program {
  command: readonly [string, ...string[]];
  env?: Record<string, string>;
  /** Runs before the program, unmeasured. */
  before?: () => unknown;
  /** Throws if the output does not show the intended work. */
  check?: (stdout: string) => void;
}

/** Wall time in seconds, and the peak resident set of its largest process in MB (10⁶ bytes). */
export type Figures = Record<'seconds' | 'peakMb', number>;

/** Runs a program under `measure` (see measure.c). @throws Error with what it printed unless it ends with 0. */
export async function measure(measurer: string, folder: string, program: Program): Promise<Figures> {
  await program.before?.();
  const out = join(folder, 'measured');
  const child = spawn(measurer, [out, ...program.command], {
    cwd: folder,
    env: cleanEnvironment(program.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await finish(child);
  if (code !== 0) throw new Error(`${program.command.join(' ')} ended with ${code}: ${stdout.slice(-2000)}${stderr}`);
  program.check?.(stdout);
  const [seconds = Number.NaN, peakKilobytes = Number.NaN] = readFileSync(out, 'utf8').split(' ').map(Number);
  return { seconds, peakMb: (peakKilobytes * 1024) / 1e6 };
}

/** Returns the medians of alternating runs (A B C A B C …), so that a slow machine slows all of them. */
export async function inTurn<Name extends string, Figure extends string>(
  runs: number,
  names: readonly Name[],
  run: (name: Name) => Promise<Record<Figure, number>>,
): Promise<Record<Name, Record<Figure, number>>> {
  const measured = names.map((name) => ({ name, samples: [] as Record<Figure, number>[] }));
  for (let round = 0; round < runs; round++) for (const { name, samples } of measured) samples.push(await run(name));
  return Object.fromEntries(measured.map(({ name, samples }) => [name, medianOfEach(samples)])) as Record<
    Name,
    Record<Figure, number>
  >;
}

function medianOfEach<Figure extends string>(samples: readonly Record<Figure, number>[]): Record<Figure, number> {
  const figures = Object.keys(samples[0] ?? {}) as Figure[];
  const medians = figures.map((figure) => [figure, median(samples.map((sample) => sample[figure]))]);
  return Object.fromEntries(medians);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error('nothing has no median');
  return (low + high) / 2;
}

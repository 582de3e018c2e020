import { join } from 'node:path';

/**
 * For `startNode`: the program says at its end what it has cost, for `costIn`. In its folder must be no package.json: Node
 * reads that when a module is named to it.
 */
export const COUNTED = ['--import', join(import.meta.dirname, 'cost.mjs')];

export interface Cost {
  /** Most bytes that were resident at a time. */
  memory: number;
  /** Seconds of the processor, of all threads. */
  seconds: number;
}

export function costIn(stderr: string): Cost {
  const [, kilobytes, microseconds] = /^cost (\d+) (\d+)$/m.exec(stderr) ?? [];
  if (kilobytes === undefined) throw new Error(`the program did not say what it has cost: ${stderr}`);
  return { memory: Number(kilobytes) * 1024, seconds: Number(microseconds) / 1e6 };
}

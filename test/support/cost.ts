import { join } from 'node:path';

/**
 * Flags for `startNode` that make the program print its cost for `costIn` at its end. The program's folder must not
 * contain package.json, because Node reads it to resolve a module.
 */
export const COUNTED = ['--import', join(import.meta.dirname, 'cost.mjs')];

export interface Cost {
  /** Peak of resident memory in bytes. */
  memory: number;
  /** CPU seconds of all threads. */
  seconds: number;
}

export function costIn(stderr: string): Cost {
  const [, kilobytes, microseconds] = /^cost (\d+) (\d+)$/m.exec(stderr) ?? [];
  if (kilobytes === undefined) throw new Error(`the program did not say what it has cost: ${stderr}`);
  return { memory: Number(kilobytes) * 1024, seconds: Number(microseconds) / 1e6 };
}

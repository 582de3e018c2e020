import { evidencePlatform } from '../../src/platform/command-line.ts';
import type { Ended } from '../support/evidence.ts';
import { keptOutput } from '../support/output.ts';

/**
 * Runs `evidence-platform` in this process, which is ten times cheaper than a separate one. Tests of processes
 * (signals, output) need a separate one. Paths are relative to the folder in which the tests run.
 */
export async function runPlatform(words: readonly string[]): Promise<Ended> {
  const { printed, stdout, stderr } = keptOutput();
  const before = [process.stdout.write, process.stderr.write] as const;
  process.stdout.write = takenBy(stdout);
  process.stderr.write = takenBy(stderr);
  try {
    return { code: await evidencePlatform([...words]), ...printed };
  } finally {
    [process.stdout.write, process.stderr.write] = before;
  }
}

function takenBy(output: { write(text: string): void }): typeof process.stdout.write {
  return (text: string | Uint8Array, ...more: unknown[]) => {
    output.write(String(text));
    const done = more.find((each) => typeof each === 'function');
    done?.();
    return true;
  };
}

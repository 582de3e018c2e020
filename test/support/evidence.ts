import { evidence as carryOut } from '../../src/exporter/cli/evidence.ts';
import { cleanEnvironment, type RunOptions } from './environment.ts';

/** What a command line came to. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Code and libraries read these from the process itself. */
const OF_A_PROCESS = /^(?!EVIDENCE_)/;

/**
 * Runs `evidence` in this process, which is an order of magnitude cheaper than a process of its own. What is about a process
 * (signals, pipes, memory, variables that are not ours) needs `evidenceProcess`.
 */
export async function evidence(words: readonly string[], { cwd, env = {} }: RunOptions): Promise<Ended> {
  const foreign = Object.keys(env).filter((name) => OF_A_PROCESS.test(name));
  if (foreign.length > 0) throw new Error(`${foreign.join(', ')} would need a process of its own`);
  const printed = { stdout: '', stderr: '' };
  const into = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text;
    },
  });
  const code = await carryOut(words, {
    directory: cwd,
    environment: cleanEnvironment(env),
    stdout: into('stdout'),
    stderr: into('stderr'),
    interruption: { signal: new AbortController().signal, exitCode: () => null },
    holdHeap: () => undefined,
  });
  return { code, ...printed };
}

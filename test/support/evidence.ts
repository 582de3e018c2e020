import { EvidenceError } from '../../src/core/errors.ts';
import { evidence as carryOut } from '../../src/exporter/cli/evidence.ts';
import { cleanEnvironment, type RunOptions } from './environment.ts';
import './parsed-fonts.ts';
import { keptOutput } from './output.ts';

/** Output and exit code of a command line. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs `evidence` in this process, which is ten times cheaper than a separate one. Tests of processes (signals, pipes,
 * memory) need `evidenceProcess`.
 */
export function evidence(words: readonly string[], options: RunOptions): Promise<Ended> {
  return evidenceUntil(null, words, options);
}

/** Runs `evidence` likewise, and interrupts it as Ctrl-C does once it prints a text; never for null. */
export async function evidenceUntil(
  text: string | null,
  words: readonly string[],
  { cwd, env = {} }: RunOptions,
): Promise<Ended> {
  const controller = new AbortController();
  let code: number | null = null;
  let deadline: NodeJS.Timeout | undefined;
  const end = (exitCode: number, why: string) => {
    code ??= exitCode;
    controller.abort(new EvidenceError('interrupted', why));
  };
  const { printed, stdout, stderr } = keptOutput((output) => {
    if (text !== null && output.includes(text)) end(130, 'interrupted');
  });
  const deps = {
    directory: cwd,
    environment: cleanEnvironment(env),
    stdout,
    stderr,
    interruption: {
      signal: controller.signal,
      exitCode: () => code,
      endAfter: (milliseconds: number, why: string) => {
        deadline = setTimeout(() => end(3, why), milliseconds);
      },
    },
  };
  try {
    return { code: await withVariables(env, () => carryOut(words, deps)), ...printed };
  } finally {
    clearTimeout(deadline);
  }
}

/** Variables of the commands that run at present, and the number of these commands. */
const shared = { variables: '', commands: 0, before: {} as Record<string, string | undefined> };

/** Libraries read variables from the process, so concurrent commands must have the same ones. */
async function withVariables(env: Record<string, string>, work: () => Promise<number>): Promise<number> {
  const foreign = Object.entries(env).filter(([name]) => !name.startsWith('EVIDENCE_'));
  const variables = JSON.stringify(foreign);
  if (shared.commands > 0 && shared.variables !== variables) throw new Error('other variables are set by a command');
  if (shared.commands++ === 0) {
    shared.variables = variables;
    shared.before = Object.fromEntries(foreign.map(([name]) => [name, process.env[name]]));
    Object.assign(process.env, Object.fromEntries(foreign));
  }
  try {
    return await work();
  } finally {
    if (--shared.commands === 0)
      for (const [name, value] of Object.entries(shared.before))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanEnvironment, type RunOptions } from './environment.ts';
import { throughStarter } from './starter.ts';

/** Returns the folder into which `build` puts the programs. */
export function builtFolder(): string {
  return join(tmpdir(), 'built');
}

/** Built programs, relative to the build folder that `startNode` knows. */
export const EVIDENCE = 'exporter/cli/main.js';
export const PLATFORM = 'platform/main.js';
export const SENSOR = 'evidence-sensor.mjs';

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface ProcessOptions extends RunOptions {
  /** Flags of Node.js. */
  nodeFlags?: string[];
  /** Command line of a program that starts this one. */
  through?: readonly string[];
}

/** @param script path, or one of the programs above. */
export function startNode(script: string, args: readonly string[], options: ProcessOptions): ChildProcess {
  const [program = '', ...words] = [...(options.through ?? []), process.execPath, ...nodeWords(script, args, options)];
  return spawn(program, words, {
    cwd: options.cwd,
    env: cleanEnvironment(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function nodeWords(script: string, args: readonly string[], { nodeFlags = [] }: ProcessOptions): string[] {
  return [...nodeFlags, resolve(builtFolder(), 'dist', script), ...args];
}

/** Waits for a child, and returns its output and exit. */
export async function finish(child: ChildProcess): Promise<Finished> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  const [code, signal] = await once(child, 'close');
  return { code, signal, ...texts };
}

/** Runs one of the programs in a separate process until it ends. */
export function nodeToEnd(script: string, args: readonly string[], options: ProcessOptions): Promise<Finished> {
  return runToEnd(process.execPath, nodeWords(script, args, options), options);
}

/** Runs `evidence` in a separate process. */
export function evidenceProcess(args: readonly string[], options: ProcessOptions): Promise<Finished> {
  return nodeToEnd(EVIDENCE, args, options);
}

/** Runs another program, whatever its exit code. */
export function runToEnd(program: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Finished> {
  return throughStarter({ program, args, cwd, env: cleanEnvironment(env) });
}

/** Runs another program. @throws Error with the output unless the exit code is 0. */
export async function run(program: string, args: readonly string[], cwd = process.cwd()): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(program, args, { cwd });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

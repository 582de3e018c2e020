import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanEnvironment, type RunOptions } from './environment.ts';
import { throughStarter } from './starter.ts';

/** Where `build` has put the programs that are started here. */
export function builtFolder(): string {
  return join(tmpdir(), 'built');
}

/** The programs as they are published; `startNode` knows where they were built. */
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
  /** For Node itself. */
  nodeFlags?: string[];
  /** Words of another program that starts it. */
  through?: readonly string[];
}

/** @param script a path, or one of the programs above. */
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

/** What a child printed and how it ended. */
export async function finish(child: ChildProcess): Promise<Finished> {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  const [code, signal] = await once(child, 'close');
  return { code, signal, ...texts };
}

/** Runs one of the programs as its own process, to its end. */
export function nodeToEnd(script: string, args: readonly string[], options: ProcessOptions): Promise<Finished> {
  return runToEnd(process.execPath, nodeWords(script, args, options), options);
}

/** Runs `evidence` as its own process. */
export function evidenceProcess(args: readonly string[], options: ProcessOptions): Promise<Finished> {
  return nodeToEnd(EVIDENCE, args, options);
}

/** Runs another program, however it ends. */
export function runToEnd(program: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Finished> {
  return throughStarter({ program, args, cwd, env: cleanEnvironment(env) });
}

/** Runs another program; throws with what it printed unless it ends with 0. */
export async function run(program: string, args: readonly string[], cwd = process.cwd()): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(program, args, { cwd });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

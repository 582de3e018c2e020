import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, 'interrupted-program.ts');
let child: ChildProcessByStdio<null, Readable, null> | null = null;

afterEach(() => {
  child?.kill('SIGKILL');
});

/** Starts the program; each call of `line` returns its next line. */
async function start(manner: 'obedient' | 'stubborn') {
  const started = spawn(process.execPath, [PROGRAM, manner], { stdio: ['ignore', 'pipe', 'inherit'] });
  child = started;
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  const ended = once(started, 'exit').then(([code]) => code as number);
  const line = async () => JSON.parse((await lines.next()).value ?? 'null');
  expect(await line()).toEqual({ exitCode: null });
  return { ended, line, kill: (signal: NodeJS.Signals) => started.kill(signal) };
}

describe('a program that is interrupted', () => {
  test.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s ends cleanly with %i', async (signal, code) => {
    const { ended, line, kill } = await start('obedient');
    kill(signal);
    expect(await line()).toEqual({ code: 'interrupted', nextStep: expect.stringContaining('resume'), exitCode: code });
    expect(await ended).toBe(code);
  });

  test.each([
    ['SIGINT', 'SIGINT', 130],
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGTERM', 'SIGINT', 130],
  ] as const)('by %s and by %s again ends at once', async (first, second, code) => {
    const { ended, line, kill } = await start('stubborn');
    kill(first);
    await line();
    const at = performance.now();
    kill(second);
    expect(await ended).toBe(code);
    expect(performance.now() - at).toBeLessThan(2500);
  });

  test('ends after five seconds, whatever holds it', async () => {
    const { ended, line, kill } = await start('stubborn');
    kill('SIGTERM');
    await line();
    const at = performance.now();
    expect(await ended).toBe(143);
    expect(performance.now() - at).toBeGreaterThan(4000);
    expect(performance.now() - at).toBeLessThan(10_000);
  });
});

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The one without a window of its own costs half as much to start. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

let started: Promise<Browser> | undefined;

/**
 * The Chromium of this process: started by the first test that asks, for all test files that follow. It ends with the
 * process; who opens contexts closes them.
 */
export function useChromium(): Promise<Browser> {
  started ??= start();
  return started;
}

async function start(): Promise<Browser> {
  const program = process.env['CHROMIUM'] ?? PROGRAMS.find(existsSync);
  if (program === undefined || !existsSync(program))
    throw new Error(
      `there is no ${program ?? PROGRAMS.join(', and no ')}: apt-get install chromium-headless-shell, or name another one in CHROMIUM`,
    );
  // Its sandbox wants user namespaces, which containers do not give to root; it opens only our own files and pages.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
}

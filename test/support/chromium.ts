import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell costs half as much to start. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

let started: Promise<Browser> | undefined;

/**
 * Returns this process's Chromium. The first test that asks starts it for all later test files, and it ends with the
 * process; each test closes its own contexts.
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
  // The sandbox needs user namespaces, which containers deny to root; the browser only opens our own files and pages.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
}

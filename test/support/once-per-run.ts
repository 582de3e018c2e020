import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time limit for making a value; a store takes longest. */
const WITHIN_MS = 240_000;

/**
 * Shares a value between all workers of a test run: the first test that asks makes it, in a separate folder.
 * @param make returns JSON.
 */
export async function oncePerRun<Made>(name: string, make: (folder: string) => Promise<Made>): Promise<Made> {
  const folder = join(tmpdir(), name);
  const ready = `${folder}.json`;
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return waitFor<Made>(ready, name);
  }
  const made = await make(folder);
  writeFileSync(`${ready}.new`, JSON.stringify(made));
  renameSync(`${ready}.new`, ready);
  return made;
}

async function waitFor<Made>(ready: string, name: string): Promise<Made> {
  for (const until = Date.now() + WITHIN_MS; Date.now() < until; await sleep(50))
    if (existsSync(ready)) return JSON.parse(readFileSync(ready, 'utf8'));
  throw new Error(`another test did not make ${name} within ${WITHIN_MS / 1000} s`);
}

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What takes longest to make is a store of its own. */
const WITHIN_MS = 240_000;

/**
 * What all workers of this test run share: made by the first test that asks, in a folder of its own.
 * @param make gives what JSON can hold.
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

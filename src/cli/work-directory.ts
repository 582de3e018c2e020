import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'evidence-export-';

/**
 * A folder for what is on its way into the archive, readable by this user alone; and away with those of processes that
 * did not live to remove theirs.
 */
export function makeWorkDirectory(): { path: string; remove(): void } {
  const host = hostname().replace(/[^A-Za-z0-9]/g, '_');
  for (const name of readdirSync(tmpdir())) {
    const owner = new RegExp(`^${PREFIX}${host}-(\\d+)-`).exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${host}-${process.pid}-`));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

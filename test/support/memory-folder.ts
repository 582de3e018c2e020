import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { useOwnFolder } from './setup.ts';

const FOLDER = '/dev/shm';
/** More than all tests leave until they end, and what else they take. */
const ROOM_BYTES = 12 * 2 ** 30;

/**
 * Has the folder of this run in memory, where there is room for it and nobody has named another one: on a disk an export waits
 * for a fifth of its time until what it wrote is there for good.
 */
export function useMemory(): void {
  if (process.env['TMPDIR'] === undefined && hasRoom() && startsPrograms()) useOwnFolder(FOLDER);
}

function hasRoom(): boolean {
  if (!existsSync(FOLDER)) return false;
  const { bavail, bsize } = statfsSync(FOLDER);
  return Math.min(bavail * bsize, freemem()) > ROOM_BYTES;
}

/** In containers it often may not. */
function startsPrograms(): boolean {
  const folder = mkdtempSync(join(FOLDER, 'evidence-exporter-try-'));
  try {
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    return spawnSync(program).status === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

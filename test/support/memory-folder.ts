import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { useOwnFolder } from './setup.ts';

const FOLDER = '/dev/shm';
/** More than all tests leave until they end, plus other uses. */
const ROOM_BYTES = 12 * 2 ** 30;

/**
 * Puts this run's folder into memory if there is room and no other folder is set: on a disk, an export waits a fifth of
 * its time for writes.
 */
export function useMemory(): void {
  if (process.env['TMPDIR'] === undefined && hasRoom() && startsPrograms()) useOwnFolder(FOLDER);
}

function hasRoom(): boolean {
  if (!existsSync(FOLDER)) return false;
  const { bavail, bsize } = statfsSync(FOLDER);
  return Math.min(bavail * bsize, freemem()) > ROOM_BYTES;
}

/** Containers often forbid it. */
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

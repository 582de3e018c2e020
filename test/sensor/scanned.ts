import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { onTestFinished } from 'vitest';
import { type EndpointLine, pathBytes } from '../../src/sensor/report/line.ts';
import type { ReadingPace } from '../../src/sensor/scan/pace.ts';
import { type ScanOptions, type ScanResult, scan } from '../../src/sensor/scan/scan.ts';

/** Pace without pauses. */
export const UNPACED: ReadingPace = { took: () => undefined };

export interface Scanned extends ScanResult {
  lines: EndpointLine[];
  /** Returns the line of a path. */
  at(path: string | Buffer): EndpointLine | undefined;
}

/** Scans the roots. */
export async function scanOf(roots: readonly string[], options: Partial<ScanOptions> = {}): Promise<Scanned> {
  const lines: EndpointLine[] = [];
  const result = await scan({
    roots,
    otherFilesystems: [],
    pace: UNPACED,
    write: (text) => lines.push(JSON.parse(text)),
    ...options,
  });
  const at = (path: string | Buffer) => lines.find((line) => pathBytes(line).equals(Buffer.from(path as string)));
  return { ...result, lines, at };
}

/** Creates an empty folder, which is removed after the tests. */
export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'endpoint-'));
}

const NOBODY = 65_534;

/** Creates an empty folder that every user can reach. */
export function openFolder(): string {
  const folder = mkdtempSync('/tmp/endpoint-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  return folder;
}

/** Runs a function without the rights of root. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  const { seteuid, geteuid } = process;
  const own = geteuid?.();
  if (own !== 0) return work();
  seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    seteuid?.(own);
  }
}

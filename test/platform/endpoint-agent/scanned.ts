import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach } from 'vitest';
import type { ReadingPace } from '../../../src/platform/endpoint-agent/scan/pace.ts';
import { type ScanOptions, type ScanResult, scan } from '../../../src/platform/endpoint-agent/scan/scan.ts';
import { type EndpointLine, pathBytes } from '../../../src/platform/endpoints/report/line.ts';

/** As fast as it goes. */
export const UNPACED: ReadingPace = { took: () => undefined };

export interface Scanned extends ScanResult {
  lines: EndpointLine[];
  /** The line of a path. */
  at(path: string | Buffer): EndpointLine | undefined;
}

/** What a scan says of the roots. */
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

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder that is removed after the test. */
export function emptyFolder(within = tmpdir()): string {
  const folder = mkdtempSync(join(within, 'endpoint-'));
  made.push(folder);
  return folder;
}

const NOBODY = 65_534;

/** An empty folder to which everybody finds their way. */
export function openFolder(): string {
  const folder = emptyFolder('/tmp');
  chmodSync(folder, 0o755);
  return folder;
}

/** Does something as somebody who may not read what only root may read. */
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

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { PlatformProcesses } from '../processes.ts';
import { rowsOf } from '../rows.ts';
import { call } from '../service.ts';

export const MIB = 2 ** 20;

/**
 * Makes a platform send a package of this many entries to three readers, which start slowly.
 * @returns the package's length, and the platform's peak of additional memory.
 */
export async function passToSlowReaders(dataDir: string, entries: number): Promise<{ bytes: number; more: number }> {
  const platform = await PlatformProcesses.init(['--data', dataDir]);
  try {
    const rows = await rowsOf(dataDir, 's', entries, new Date('2026-10-01T00:00:00Z'));
    execFileSync('sqlite3', ['-bail', join(dataDir, 'platform.sqlite'), rows.join(';')]);
    const { child, origin } = await platform.serve();
    const { apiKey } = platform;
    const url = `${origin}/audit`;
    const { body } = await call(url, apiKey, 'POST', '/evidence/generate', { stream_id: 's' });
    expect(body.entry_count).toBe(entries);
    const before = memoryOf(child.pid, 'VmRSS');
    const path = `${url}/evidence/${body.package_id}/json`;
    const [bytes = 0, ...others] = await Promise.all([1, 2, 3].map(() => readSlowly(path, apiKey)));
    expect(others).toEqual([bytes, bytes]);
    return { bytes, more: memoryOf(child.pid, 'VmHWM') - before };
  } finally {
    await platform.close();
  }
}

function memoryOf(pid: number | undefined, line: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Reads the beginning of an answer slowly, and the rest at full speed. @returns its length. */
function readSlowly(url: string, apiKey: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(url, { headers: { authorization: `Bearer ${apiKey}` } }, async (answer) => {
    let bytes = 0;
    let pauses = 20;
    for await (const chunk of answer) {
      bytes += chunk.length;
      if (pauses-- > 0) await sleep(50);
    }
    resolve(bytes);
  }).on('error', reject);
  return promise;
}

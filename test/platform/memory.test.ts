import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlatformProcesses } from './processes.ts';
import { rowsOf } from './rows.ts';
import { call } from './service.ts';

const ENTRIES = 500_000;
const MIB = 2 ** 20;

/** What a thread takes, and what is on its way: less than one of the three packages that pass. */
const MORE = 160 * MIB;

let folder: string;
let platform: PlatformProcesses;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'memory-'));
  platform = await PlatformProcesses.init(['--data', join(folder, 'data')]);
  const rows = await rowsOf(join(folder, 'data'), 's', ENTRIES, new Date('2026-10-01T00:00:00Z'));
  execFileSync('sqlite3', ['-bail', join(folder, 'data', 'platform.sqlite'), rows.join(';')]);
}, 120_000);
afterAll(async () => {
  await platform.close();
  await rm(folder, { recursive: true });
});

function memoryOf(pid: number | undefined, line: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Reads an answer slowly for its first part, then as fast as it comes. @returns how long it is. */
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

test(`a package of ${ENTRIES} entries passes through in bounded memory, however slow its readers are`, async () => {
  const { child, origin } = await platform.serve();
  const { apiKey } = platform;
  const url = `${origin}/audit`;
  const { body } = await call(url, apiKey, 'POST', '/evidence/generate', { stream_id: 's' });
  expect(body.entry_count).toBe(ENTRIES);
  const before = memoryOf(child.pid, 'VmRSS');
  const sizes = await Promise.all([1, 2, 3].map(() => readSlowly(`${url}/evidence/${body.package_id}/json`, apiKey)));
  expect(new Set(sizes).size).toBe(1);
  expect(sizes[0]).toBeGreaterThan(200 * MIB);
  expect(memoryOf(child.pid, 'VmHWM') - before).toBeLessThan(MORE);
}, 120_000);

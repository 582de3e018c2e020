import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlatformProcesses } from '../platform/processes.ts';
import { rowsOf } from '../platform/rows.ts';
import { call } from '../platform/service.ts';
import { run } from '../support/process.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
/** Bound on the time for ten times as many entries, apart from a request's constant cost. */
const MOST = 11;
const FLOOR_MS = 30;
/** Bound on additional memory for a million entries instead of ten thousand. */
const MOST_MORE_MB = 120;

const START = new Date(Date.now() - 90 * 60_000);
const ASKED: [string, [method: string, path: string, body?: unknown]][] = [
  ['list, a filter that nothing passes', ['GET', '/entries/?stream_id=s&actor=nobody']],
  ['list, a page', ['GET', '/entries/?stream_id=s&limit=500']],
  ['generate', ['POST', '/evidence/generate', { stream_id: 's' }]],
  ['Verify', ['POST', '/streams/s/verify']],
  ['statistics', ['GET', '/stats/']],
];

let folder: string;
const platforms: PlatformProcesses[] = [];
const served: { size: number; url: string; apiKey: string; pid: number }[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-growth-'));
  for (const size of SIZES) {
    const data = join(folder, String(size));
    const platform = await PlatformProcesses.init(['--data', data]);
    platforms.push(platform);
    const statements = (await rowsOf(data, 's', size, START)).join(';\n');
    await run('sqlite3', ['-bail', join(data, 'platform.sqlite'), statements], folder);
    const { child, origin } = await platform.serve();
    served.push({ size, url: `${origin}/audit`, apiKey: platform.apiKey, pid: child.pid ?? 0 });
  }
}, 300_000);
afterAll(async () => {
  for (const platform of platforms) await platform.close();
  await rm(folder, { recursive: true });
});

/** Returns the least cost of three, and the peak of resident memory. */
async function costOf({ url, apiKey, pid }: (typeof served)[number], [method, path, body]: (typeof ASKED)[number][1]) {
  // Reset the peak (proc_pid_clear_refs(5)).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    const { status, text } = await call(url, apiKey, method, path, body);
    times.push(performance.now() - began);
    expect(status, text).toBeLessThan(300);
  }
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return { ms: Math.min(...times), mb: (Number(kilobytes) * 1024) / 1e6 };
}

test.each(ASKED)(
  '%s: ten times the entries cost at most eleven times as much, in the same memory',
  async (name, asked) => {
    const costs = [];
    for (const one of served) costs.push(await costOf(one, asked));
    const figures = costs.map(({ ms, mb }, index) => `${SIZES[index]}: ${ms.toFixed(1)} ms, ${mb.toFixed(0)} MB`);
    process.stdout.write(`${name}: ${figures.join('; ')}\n`);
    const [small, middle, large] = costs as [Cost, Cost, Cost];
    expect(middle.ms).toBeLessThan(MOST * Math.max(small.ms, FLOOR_MS));
    expect(large.ms).toBeLessThan(MOST * Math.max(middle.ms, FLOOR_MS));
    expect(large.mb - small.mb).toBeLessThan(MOST_MORE_MB);
  },
  300_000,
);

type Cost = Awaited<ReturnType<typeof costOf>>;

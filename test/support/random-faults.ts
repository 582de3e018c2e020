import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { chainOf } from './chain.ts';
import { evidence } from './evidence.ts';
import type { Reply } from './fault-server.ts';
import { startFlakyProxy } from './flaky-proxy.ts';
import { EVIDENCE, finish, startNode } from './process.ts';
import { makeBucket, useRadosgw } from './radosgw.ts';
import { seededRandom } from './random.ts';
import { type Fault, startFaultyService } from './services/faulty.ts';

const KEY = 'sk_of_random_faults_01';
const RUN = 'RANDOM';
const EXPORT = ['export', '--all-time', '--request', RUN];
const ENTRIES = 40;
const STREAMS = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `stream-${name}`);
const DEADLINE_S = 12;
/** Five seconds for a clean end, doubled for a busy machine. */
const GRACE_S = 10;
/** Attempts at an export before the faults end. */
const TRIES = 8;
const KILLED = 0.3;

/** Counts of an export under faults. */
export interface FaultTally {
  exports: number;
  runs: number;
  kills: number;
  deadlines: number;
  faults: number;
  /** Longest run of the program. */
  longestSeconds: number;
  refuted: number;
}

/**
 * Runs exports for a time, one after another, each under random faults of the service and the store, with kills and
 * reruns; then lets each end, and checks the result. The same seed repeats the faults, but not their moments.
 */
export async function exportUnderFaults(milliseconds: number, seed: number): Promise<FaultTally> {
  const random = seededRandom(seed);
  const tally: FaultTally = { exports: 0, runs: 0, kills: 0, deadlines: 0, faults: 0, longestSeconds: 0, refuted: 0 };
  const end = performance.now() + milliseconds;
  do {
    const isS3 = tally.exports % 3 === 2;
    await oneExport(random, tally, isS3);
    tally.exports += 1;
  } while (performance.now() < end);
  return tally;
}

async function oneExport(random: () => number, tally: FaultTally, isS3: boolean): Promise<void> {
  let isWell = false;
  const fault: Fault = (occasion, truth) => {
    const reply = isWell ? undefined : drawFault(random, truth, occasion.step === 'json');
    if (reply !== undefined) tally.faults += 1;
    return reply;
  };
  const service = await startFaultyService({
    apiKey: KEY,
    streams: new Map(STREAMS.map((id) => [id, ENTRIES])),
    fault,
  });
  const gateway = isS3 ? await useRadosgw() : null;
  const proxy = gateway === null ? null : await startFlakyProxy(Number(new URL(gateway.endpoint).port), random);
  const cwd = mkdtempSync(join(tmpdir(), 'random-faults-'));
  const bucket = gateway === null ? null : await makeBucket(gateway, 'versioned');
  const archive =
    bucket === null
      ? { url: './evidence-archive' }
      : { url: `s3://${bucket}/prod`, endpoint: `http://127.0.0.1:${proxy?.port}` };
  const timeouts = { connect_seconds: 2, headers_seconds: 2, idle_seconds: 1, request_seconds: 6, download_seconds: 6 };
  writeFileSync(join(cwd, 'evidence.yaml'), JSON.stringify({ source: { timeouts }, archive }));
  const env = { ...(gateway?.env ?? {}), EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const { code, signal } = await runOnce(random, tally, { cwd, env });
      if (signal === null) expect([0, 1, 3]).toContain(code);
      if (code === 0 || code === 1) break;
    }
    isWell = true;
    if (proxy !== null) proxy.isFlaky = false;
    const last = await evidence(EXPORT, { cwd, env });
    expect([0, 1], `${last.stderr}${last.stdout}`).toContain(last.code);
    await expectTrue({ cwd, env }, tally);
  } finally {
    proxy?.close();
    await service.close();
  }
}

async function runOnce(random: () => number, tally: FaultTally, place: { cwd: string; env: Record<string, string> }) {
  const began = performance.now();
  const child = startNode(EVIDENCE, [...EXPORT, '--deadline', `${DEADLINE_S}s`], place);
  const finished = finish(child);
  const isKilled = random() < KILLED;
  const moment = random() * DEADLINE_S * 500;
  if (isKilled) {
    await Promise.race([sleep(moment), finished]);
    child.kill('SIGKILL');
  }
  const ended = await finished;
  const seconds = (performance.now() - began) / 1000;
  tally.runs += 1;
  tally.kills += ended.signal === 'SIGKILL' ? 1 : 0;
  tally.deadlines += ended.stderr.includes('the deadline (') ? 1 : 0;
  tally.longestSeconds = Math.max(tally.longestSeconds, seconds);
  expect(seconds, ended.stderr).toBeLessThan(DEADLINE_S + GRACE_S);
  return ended;
}

/** Expects each stream once. Verified streams match the service; everything else sent is refuted. */
async function expectTrue(place: { cwd: string; env: Record<string, string> }, tally: FaultTally): Promise<void> {
  const { code, stdout, stderr } = await evidence(['verify', '--config', 'evidence.yaml', '--json'], place);
  const { runs } = JSON.parse(stdout) as {
    runs: { streams: { stream_id: string; status: string; entries: number; head: { hash: string } | null }[] }[];
  };
  expect(runs, stderr).toHaveLength(1);
  const streams = runs[0]?.streams ?? [];
  expect(streams.map(({ stream_id }) => stream_id).sort()).toEqual(STREAMS);
  for (const { stream_id, status, entries, head } of streams) {
    expect(['verified', 'refuted']).toContain(status);
    if (status === 'refuted') tally.refuted += 1;
    else expect([entries, head?.hash]).toEqual([ENTRIES, chainOf(ENTRIES, { stream_id }).at(-1)?.hash]);
  }
  expect(code).toBe(streams.some(({ status }) => status === 'refuted') ? 1 : 0);
}

/** @param isEvidence true if the answer has entries. */
function drawFault(random: () => number, truth: Reply, isEvidence: boolean): Reply | undefined {
  const drawn = random();
  const headers = truth.headers ?? {};
  const body = truth.body ?? '';
  if (drawn < 0.03) return { status: 503, body: 'later' };
  if (drawn < 0.05) return { status: 429, headers: { 'retry-after': '1' }, body: 'slower' };
  if (drawn < 0.08) return { end: 'reset' };
  if (drawn < 0.1) return { headers, body, end: 'cut' };
  if (drawn < 0.11) return { headers, body, end: 'stall' };
  if (drawn < 0.12) return { end: 'silence' };
  if (drawn < 0.14) return { headers, body: slowly(body) };
  if (drawn < 0.15) return { headers, body: endlessly(body) };
  if (drawn < 0.16) return { status: 500, body: '{"code":"internal"}' };
  // Rare, because a refuted run stays refuted.
  if (isEvidence && drawn < 0.165 && typeof body === 'string')
    return { headers, body: body.replace(/"actor":"(.)/, '"actor":"X$1') };
  return undefined;
}

async function* slowly(body: Reply['body']): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from((body ?? '') as string);
  for (let at = 0; at < bytes.length; at += 500) {
    await sleep(20);
    yield bytes.subarray(at, at + 500);
  }
}

async function* endlessly(body: Reply['body']): AsyncGenerator<Uint8Array> {
  yield Buffer.from((body ?? '') as string);
  for (;;) {
    await sleep(20);
    yield Buffer.alloc(2048, ' ');
  }
}

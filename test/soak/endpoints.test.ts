import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EndpointLine } from '../../src/sensor/report/line.ts';
import { files, type NextReport, partOf, SensorDouble, withoutLines } from '../platform/endpoints/sensor-double.ts';
import { PlatformProcesses } from '../platform/processes.ts';

/** Numbers of endpoints, each of which reports once an hour. */
const FLEETS = [1000, 3000, 10_000] as const;
const HOUR_SECONDS = 3600;
/** Bound on the CPU share, of one of two cores, for an hour's reports of the largest fleet. */
const MOST_SHARE = 0.05;
/** Bound on the growth of a report's cost between fleets. */
const MOST_GROWTH = 1.5;
/** Setting of the systemd unit and of the image. An idle process has 129 MB with it. */
const HELD_MEMORY = { NODE_OPTIONS: '--max-semi-space-size=8' };
const FIRST_REPORT_MB = 200;
/** Bound that allows for garbage, which Node.js collects late if memory is free. */
const MOST_MEMORY_MB = 350;
const UNCHANGED_BYTES = 2048;
const AT_ONCE = 16;

let folder: string;
let platform: PlatformProcesses;
let pool: Pool;
let pid: number;
let data: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'endpoints-soak-'));
  data = join(folder, 'data');
  platform = await PlatformProcesses.init(['--data', data]);
  const { child, origin } = await platform.serve(HELD_MEMORY);
  pid = child.pid ?? 0;
  pool = new Pool(origin, { connections: AT_ONCE });
});
afterAll(async () => {
  await pool.close();
  await platform.close();
  await rm(folder, { recursive: true });
});

async function send(token: string, method: 'GET' | 'POST', path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = { method, path: `/endpoints${path}`, headers };
  const answer = await pool.request(body === undefined ? sent : { ...sent, body: JSON.stringify(body) });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text);
}

/** An endpoint of the fleet, with the members of its next report. */
class FleetAgent {
  readonly sensor: SensorDouble;
  readonly token: string;
  next: NextReport;

  constructor(sensor: SensorDouble, token: string, next: NextReport) {
    this.sensor = sensor;
    this.token = token;
    this.next = next;
  }

  static async enrol(): Promise<FleetAgent> {
    const { endpoint_id, endpoint_token } = await send(platform.apiKey, 'POST', '/enroll', { name: 'host' });
    const sensor = new SensorDouble(endpoint_id);
    const { next } = await send(endpoint_token, 'GET', '/sensor/settings');
    await send(endpoint_token, 'POST', '/sensor/key', sensor.proof(next));
    return new FleetAgent(sensor, endpoint_token, next);
  }

  async report(lines: readonly EndpointLine[]): Promise<void> {
    const report = this.sensor.report(this.next, lines, Date.now());
    for (let part = 1; part <= report.head.parts; part++) {
      const answer = await send(this.token, 'POST', '/scans/report', partOf(report, part));
      this.next = answer.next ?? this.next;
    }
  }

  /** Reports a scan without changes. @returns the size of the request body. */
  async unchanged(lines: readonly EndpointLine[]): Promise<number> {
    const body = withoutLines(this.sensor.report(this.next, lines, Date.now()));
    await send(this.token, 'GET', '/sensor/settings');
    ({ next: this.next } = await send(this.token, 'POST', '/scans/report', body));
    return JSON.stringify(body).length;
  }
}

/** Runs `work` for all, with bounded concurrency. */
async function forAll<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  let at = 0;
  const one = async () => {
    while (at < all.length) await work(all[at++] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Returns the service's CPU seconds (proc_pid_stat(5)). */
function cpuSeconds(): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = after.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function memoryMb(): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}

function forgetMemory(): void {
  // Reset the peak of resident memory (proc_pid_clear_refs(5)).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function storedBytes(): number {
  const file = join(data, 'platform.sqlite');
  return statSync(file).size + statSync(`${file}-wal`).size;
}

test('a first report of 60,000 lines, and a second one', async () => {
  const sensor = await FleetAgent.enrol();
  const lines = files(60_000);
  forgetMemory();
  const began = cpuSeconds();
  await sensor.report(lines);
  const [first, most] = [cpuSeconds() - began, memoryMb()];
  const second = await sensor.unchanged(lines);
  const changed = lines.with(30_000, { ...lines[30_000], sha256: 'f'.repeat(64) } as EndpointLine);
  const [before, changing] = [storedBytes(), cpuSeconds()];
  await sensor.report(changed);
  const figures = [
    `first report: ${first.toFixed(2)} s of the processor, ${most.toFixed(0)} MB at most`,
    `unchanged: ${second} bytes`,
    `one line changed: ${(cpuSeconds() - changing).toFixed(2)} s, ${storedBytes() - before} bytes on the disk`,
  ];
  process.stdout.write(`${figures.join('; ')}\n`);
  expect(second).toBeLessThan(UNCHANGED_BYTES);
  expect(most).toBeLessThan(FIRST_REPORT_MB);
}, 120_000);

test('unchanged reports of a fleet within an hour: what each costs does not grow with the fleet', async () => {
  const lines = files(300);
  const fleet: FleetAgent[] = [];
  const costs: number[] = [];
  for (const size of FLEETS) {
    const more = Array.from({ length: size - fleet.length }, () => null);
    await forAll(more, async () => {
      const sensor = await FleetAgent.enrol();
      await sensor.report(lines);
      fleet.push(sensor);
    });
    forgetMemory();
    const [before, bytes, time] = [cpuSeconds(), storedBytes(), performance.now()];
    await forAll(fleet, (sensor) => sensor.unchanged(lines));
    const seconds = cpuSeconds() - before;
    costs.push(seconds / size);
    const figures = [
      `${size} endpoints: ${((seconds / HOUR_SECONDS) * 100).toFixed(2)} % of one core in an hour`,
      `${((seconds / size) * 1000).toFixed(2)} ms each, ${(size / ((performance.now() - time) / 1000)).toFixed(0)} reports/s`,
      `${memoryMb().toFixed(0)} MB, ${((storedBytes() - bytes) / size).toFixed(0)} bytes on the disk each`,
    ];
    process.stdout.write(`${figures.join('; ')}\n`);
    expect(memoryMb()).toBeLessThan(MOST_MEMORY_MB);
  }
  const [least = 0, , most = 0] = costs;
  expect((most * FLEETS[2]) / HOUR_SECONDS).toBeLessThan(MOST_SHARE);
  expect(most / least).toBeLessThan(MOST_GROWTH);
}, 900_000);

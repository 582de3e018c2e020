import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../platform/service.ts';
import { emptyFolder } from '../sensor/scanned.ts';
import { type Watched, watched } from '../sensor/watched.ts';
import { COUNTED, costIn } from '../support/cost.ts';
import { finish, SENSOR, startNode } from '../support/process.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Starts a sensor on a machine without pauses. */
function start(machine: Watched, nodeFlags: string[] = []) {
  const { url, token, folder } = machine;
  return startNode(SENSOR, ['--url', url, '--state', folder, '--rate', '0', '--once'], {
    cwd: emptyFolder(),
    env: { EVIDENCE_ENDPOINT_TOKEN: token },
    nodeFlags,
  });
}

/** Returns the CPU seconds of sha256sum for the files of a folder. */
function costOfSha256sum(root: string): number {
  const script = `TIMEFORMAT='%U %S'; { time find "$0" -type f -exec sha256sum {} + > /dev/null; } 2>&1`;
  const [user, system] = execFileSync('bash', ['-c', script, root], { encoding: 'utf8' }).split(' ').map(Number);
  return (user ?? 0) + (system ?? 0);
}

/** Creates 60,000 files of 20 KB on average, a few of them large, as binaries are. */
function makeTree(root: string): void {
  const content = Buffer.alloc(4 * MIB, 'what a binary has in it, more or less ');
  for (let at = 0; at < 60_000; at++) {
    const folder = join(root, `folder-${at % 300}`);
    if (at < 300) mkdirSync(folder);
    const size = at % 500 === 0 ? 4 * MIB : 2000 + ((at * 7919) % 20_000);
    writeFileSync(join(folder, `a-tool-${at}`), content.subarray(0, size));
  }
}

test('60,000 files: at most 120 MB, and no less than 0.8 of the speed of sha256sum', async () => {
  const machine = await watched(service);
  makeTree(machine.root);
  const first = costIn((await finish(start(machine, COUNTED))).stderr);
  const sha256sum = costOfSha256sum(machine.root);
  const again = costIn((await finish(start(machine, COUNTED))).stderr);
  const figures = [first, again].map(
    ({ memory, seconds }) => `${Math.round(memory / 1e6)} MB, ${seconds.toFixed(1)} s`,
  );
  process.stdout.write(`sensor: ${figures.join('; again: ')}; sha256sum: ${sha256sum.toFixed(1)} s\n`);
  expect(await machine.reports()).toHaveLength(2);
  for (const { memory, seconds } of [first, again]) {
    expect(memory).toBeLessThan(120e6);
    expect(sha256sum / seconds).toBeGreaterThan(0.8);
  }
}, 900_000);

test('a sparse file of 10 GiB is read whole, within the same memory', async () => {
  const machine = await watched(service);
  const path = join(machine.root, 'sparse');
  closeSync(openSync(path, 'w'));
  truncateSync(path, 10 * GIB);
  const fd = openSync(path, 'r+');
  writeSync(fd, 'at its end', 10 * GIB - 10);
  closeSync(fd);
  await machine.round();
  await machine.approve();
  const { code, stdout, stderr } = await finish(start(machine, COUNTED));
  const { memory, seconds } = costIn(stderr);
  process.stdout.write(`10 GiB: ${Math.round(memory / 1e6)} MB, ${seconds.toFixed(1)} s\n`);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/10,737,418,240 bytes read; 0 events raised/)]);
  expect(memory).toBeLessThan(120e6);
  truncateSync(path, 10 * GIB - 1);
  await machine.round();
  const [event] = await machine.open();
  const said = execFileSync('openssl', ['dgst', '-sha256', '-r', path], { encoding: 'utf8' });
  expect(event).toMatchObject({ event_type: 'binary_modified', observed_sha256: said.slice(0, 64) });
}, 900_000);

test('a sensor that is killed again and again reports each sequence once', async () => {
  const machine = await watched(service);
  for (let at = 0; at < 2000; at++) writeFileSync(join(machine.root, `tool-${at}`), `${at}`);
  const began = performance.now();
  await finish(start(machine));
  const wholeMs = performance.now() - began;
  let killed = 0;
  for (let at = 0; at < 40; at++) {
    writeFileSync(join(machine.root, 'tool-0'), `${at}`);
    const child = start(machine);
    const ended = once(child, 'close');
    // Forty moments across the duration of an undisturbed run.
    await Promise.race([sleep((((at * 13) % 40) / 40) * wholeMs), ended]);
    if (child.kill('SIGKILL')) killed++;
    await ended;
  }
  await machine.round();
  const sequences = (await machine.reports()).map(({ sequence }) => sequence).sort((a, b) => a - b);
  process.stdout.write(`${killed} killed, ${sequences.length} reports\n`);
  expect(killed).toBeGreaterThan(20);
  expect(sequences).toEqual(sequences.map((_, at) => at + 1));
  expect(await machine.types()).toEqual([]);
  expect(readdirSync(machine.folder).sort()).toEqual(['chain.json', 'key.pem']);
}, 900_000);

/** Shortest interval between reports, in seconds. */
const INTERVAL = 60;

test('a sensor whose loop is killed is stale after three of its intervals: somebody is told, and scans are missed', async () => {
  await service.call('POST', '//alerts/channels/', { kind: 'email', name: 'mail', target: 'ada@example.com' });
  const machine = await watched(service, undefined, { scan_interval_seconds: INTERVAL });
  writeFileSync(join(machine.root, 'tool'), 'content');
  const { url, token, folder } = machine;
  const child = startNode(SENSOR, ['--url', url, '--state', folder], {
    cwd: emptyFolder(),
    env: { EVIDENCE_ENDPOINT_TOKEN: token },
  });
  const ended = once(child, 'close');
  const host = async () => (await service.call('GET', `//endpoints/hosts/${machine.id}`)).body;
  const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;
  const reported = async (sequence: number) => {
    await expect.poll(async () => (await host()).last_report?.sequence, { timeout: 120_000 }).toBe(sequence);
    return (await host()).last_report.received_at;
  };
  const [first, second] = [await reported(1), await reported(2)];
  child.kill('SIGKILL');
  await ended;
  await expect.poll(machine.types.bind(machine), { timeout: 300_000, interval: 1000 }).toEqual(['stale']);
  const { status, stale_at, missed_scans } = await host();
  const mails = join(service.dataDir, 'mail');
  await expect.poll(() => readdirSync(mails), { timeout: 10_000 }).toHaveLength(1);
  const [jitter, silence] = [seconds(first, second), seconds(second, stale_at)];
  process.stdout.write(`second report after ${jitter.toFixed(1)} s; stale after ${silence.toFixed(1)} s of silence\n`);
  expect(Math.abs(jitter / INTERVAL - 1)).toBeLessThan(0.15);
  expect(silence).toBeGreaterThanOrEqual(3 * INTERVAL);
  expect(silence).toBeLessThan(4 * INTERVAL + 10);
  expect([status, missed_scans]).toEqual(['stale', expect.toSatisfy((missed: number) => missed === 2 || missed === 3)]);
  const [mail = ''] = readdirSync(mails).map((name) => readFileSync(join(mails, name), 'utf8'));
  expect(mail).toMatch(/^Subject: stale on watched\r?$/m);
  expect(mail).toContain('has not reported for three intervals');
  await machine.round();
  expect([await machine.types(), (await host()).status]).toEqual([[], 'reporting']);
}, 600_000);

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { GIVE_UP_MS } from '../../src/platform/waiting.ts';
import { freePort } from '../support/ports.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { nodeToEnd, PLATFORM } from '../support/process.ts';
import { readUnit, Supervisor, type Unit } from '../support/systemd-unit.ts';
import { PlatformProcesses } from './processes.ts';

/** Factor by which all waits are shorter, those of the unit and that of the platform. */
const SPEED = 100;
const WRITTEN = '/etc/evidence/platform.yaml';

let folder: string;
let server: PostgresServer;
/** Unit as `deploy` writes it, with its settings in the folder. */
let text: string;
let origin: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'unit-'));
  server = await startPostgres({ durable: true });
  const { code, stderr } = await nodeToEnd(PLATFORM, ['deploy', 'systemd', '--out', folder], { cwd: folder });
  expect(code, stderr).toBe(0);
  const config = join(folder, 'served.yaml');
  text = readFileSync(join(folder, 'evidence-platform.service'), 'utf8').replace(WRITTEN, config);
  const [data, url, port] = [join(folder, 'data'), await server.createDatabase(), await freePort()];
  origin = `http://127.0.0.1:${port}`;
  writeFileSync(config, `data: ${data}\npostgres_url: ${url}\nport: ${port}\n`);
  await PlatformProcesses.init(['--data', data, '--postgres', url]);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function supervise(unit: Unit): { supervisor: Supervisor; ended: Promise<void> } {
  // A clock that runs faster ends the wait for the database sooner.
  const fast = `const now = performance.now.bind(performance); performance.now = () => now() * ${SPEED}`;
  const flags = `${unit.environment['NODE_OPTIONS']} --import=data:text/javascript,${encodeURIComponent(fast)}`;
  const supervisor = new Supervisor(unit, SPEED, { NODE_OPTIONS: flags });
  onTestFinished(() => supervisor.stop());
  return { supervisor, ended: supervisor.run() };
}

const statusOf = async (path: string) => (await fetch(`${origin}${path}`).catch(() => null))?.status ?? null;

test('the unit starts the platform again after each failure, but not after a stop', async () => {
  await server.kill();
  const { supervisor, ended } = supervise(readUnit(text));
  await expect.poll(() => supervisor.ends, { timeout: 120_000 }).toEqual([75, 75]);
  await server.start();
  await expect.poll(() => statusOf('/ready')).toBe(200);
  supervisor.child?.kill('SIGKILL');
  await expect.poll(() => supervisor.ends.at(-1)).toBe('SIGKILL');
  await expect.poll(() => statusOf('/ready')).toBe(200);
  const { length } = supervisor.ends;
  await server.kill();
  await expect.poll(() => statusOf('/ready')).toBe(503);
  await server.start();
  await expect.poll(() => statusOf('/ready')).toBe(200);
  expect(supervisor.ends).toHaveLength(length);
  supervisor.child?.kill('SIGTERM');
  await ended;
  expect([supervisor.state, supervisor.ends.at(-1)]).toEqual(['inactive', 0]);
});

test('the unit does not start the platform again after an error in its settings', async () => {
  const wrong = join(folder, 'wrong.yaml');
  writeFileSync(wrong, 'data: ./nowhere\n');
  const { supervisor, ended } = supervise(readUnit(text.replace('served.yaml', 'wrong.yaml')));
  await ended;
  expect([supervisor.state, supervisor.ends]).toEqual(['failed', [2]]);
});

test('the unit fails after five starts that end at once', async () => {
  const unit = { ...readUnit(text), command: ['sh', '-c', 'exit 70'] };
  const { supervisor, ended } = supervise(unit);
  await ended;
  expect([supervisor.state, supervisor.ends]).toEqual(['failed', Array(5).fill(70)]);
});

test('starts that wait for the database never reach the limit of the unit', () => {
  const { restartMs, limit } = readUnit(text);
  expect(limit.starts * (GIVE_UP_MS + restartMs)).toBeGreaterThan(limit.withinMs);
});

test.each(['RestartSteps=3', 'Restart=always', 'RestartSec=5 seconds', 'ExecStart=sh \\'])(
  'the reader of units refuses %s',
  (line) => {
    const [name = ''] = line.split('=');
    expect(() => readUnit(`${text.replace(new RegExp(`^${name}=.*\n`, 'm'), '')}\n${line}\n`)).toThrow(
      'not known here',
    );
  },
);

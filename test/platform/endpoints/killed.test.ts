import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresDatabases, usePostgres } from '../../support/shared-postgres.ts';
import { migratedPostgres } from '../database/databases.ts';
import { kill, PlatformProcesses } from '../processes.ts';
import { call } from '../service.ts';
import { file, partOf, SensorDouble } from './sensor-double.ts';

let folder: string;
let server: PostgresDatabases;
const platforms: PlatformProcesses[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'killed-'));
  server = await usePostgres();
});
afterAll(async () => {
  for (const platform of platforms) await platform.close();
  await server.close();
  await rm(folder, { recursive: true });
});

/** Reports that the process acknowledged before the kill. */
const BEFORE_THE_KILL = 20;

test.each(['SQLite', 'PostgreSQL'])(
  'a process that is killed while reports arrive leaves each with its entry, or neither, on %s',
  async (name) => {
    const where = ['--data', join(folder, name)];
    if (name === 'PostgreSQL') where.push('--postgres', await server.create((await migratedPostgres()).url));
    const platform = await PlatformProcesses.init(where);
    platforms.push(platform);
    const { child, origin } = await platform.serve();
    const enrolled = await call(`${origin}/endpoints`, platform.apiKey, 'POST', '/enroll', { name: 'host' });
    const { endpoint_id, endpoint_token } = enrolled.body;
    const sensor = new SensorDouble(endpoint_id);
    const send = (at: string, method: string, path: string, body?: unknown) =>
      call(`${at}/endpoints`, endpoint_token, method, path, body);
    const { next } = (await send(origin, 'GET', '/sensor/settings')).body;
    await send(origin, 'POST', '/sensor/key', sensor.proof(next));
    let [last, acknowledged] = [next, 0];
    const report = async (at: string) => {
      const body = partOf(sensor.report(last, [file('/usr/bin/tool', `${last.sequence}`)], Date.now()));
      const { status, body: answer } = await send(at, 'POST', '/scans/report', body);
      if (status !== 201) throw new Error(JSON.stringify(answer));
      ({ next: last } = answer);
      acknowledged = answer.sequence;
    };
    const reporting = (async () => {
      for (;;) await report(origin);
    })();
    reporting.catch(() => {});
    await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(BEFORE_THE_KILL);
    await kill(child);
    await expect(reporting).rejects.toThrow();

    const again = await platform.serveHere();
    const verified = await call(`${again.origin}/endpoints`, platform.apiKey, 'POST', `/hosts/${endpoint_id}/verify`);
    expect(verified.body).toMatchObject({ verified: true, findings: [] });
    // All acknowledged reports exist, and at most one whose answer was lost.
    expect([acknowledged, acknowledged + 1]).toContain(verified.body.reports_checked);
    last = (await send(again.origin, 'GET', '/sensor/settings')).body.next;
    await report(again.origin);
    expect(acknowledged).toBe(verified.body.reports_checked + 1);
  },
);

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { EVIDENCE, finish, startNode } from '../support/process.ts';
import { makeBucket, type Radosgw, useRadosgw } from '../support/radosgw.ts';
import { startFaultyService } from '../support/services/faulty.ts';
import { HOST, Machines } from '../support/two-machines.ts';
import { Workers } from '../support/workers.ts';

const KEY = 'sk_machines_0123456789';
const STREAMS = 40;
const EXPORT = ['export', '--all-time', '--request', 'FAR', '--distributed'];

let server: PostgresServer;
let store: Radosgw;
beforeAll(async () => {
  [server, store] = await Promise.all([startPostgres({ durable: true }), useRadosgw()]);
});
afterAll(() => server.stop());

test('two machines that share PostgreSQL and S3 export a run that a third began, though one loses its network', async () => {
  const streams = new Map(Array.from({ length: STREAMS }, (_, n) => [`stream-${n}`, 4]));
  const service = await startFaultyService({ apiKey: KEY, streams, fault: () => undefined });
  const queueUrl = await server.createDatabase();
  const bucket = await makeBucket(store, 'versioned');
  const cwd = mkdtempSync(join(tmpdir(), 'two-machines-'));
  const timeouts = { connect_seconds: 3, headers_seconds: 5, idle_seconds: 5 };
  const source = { audit_url: elsewhere(service.auditUrl), rate: { requests_per_second: 60 }, timeouts };
  const archive = { url: `s3://${bucket}/prod`, endpoint: elsewhere(store.endpoint), path_style: true };
  writeFileSync(join(cwd, 'evidence.yaml'), JSON.stringify({ source, archive }));
  const env = { ...store.env, EVIDENCE_API_KEY: KEY, EVIDENCE_QUEUE_URL: elsewhere(queueUrl) };
  const workers = new Workers({ cwd, env });
  const machines = new Machines('evm');
  onTestFinished(async () => {
    await workers.close();
    await machines.close();
    await service.close();
  });
  const [one, other] = [await machines.add(), await machines.add()];
  for (const port of [server.port, portOf(service.auditUrl), portOf(store.endpoint)]) await machines.open(port);

  const coordinator = finish(startNode(EVIDENCE, EXPORT, { cwd, env }));
  workers.start([], one.words);
  workers.start([], other.words);
  const whoRecorded = "SELECT DISTINCT worker FROM evidence.streams WHERE kind = 'recorded'";
  await expect
    .poll(async () => (await server.query(queueUrl, whoRecorded).catch(() => ({ rows: [] }))).rows)
    .toHaveLength(2);
  await one.network('down');
  const ended = await coordinator;
  expect(ended.code, ended.stderr + ended.stdout).toBe(0);
  const verified = await evidence(['verify', '--config', 'evidence.yaml', '--json'], { cwd, env });
  expect(verified.code, verified.stderr + verified.stdout).toBe(0);
  expect(JSON.parse(verified.stdout).runs[0].streams).toHaveLength(STREAMS);
});

/** Returns an address of this machine as other machines see it. */
function elsewhere(url: string): string {
  return url.replace('127.0.0.1', HOST).replace('localhost', HOST);
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

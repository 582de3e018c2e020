import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { AGENTS_API, NEW_ACTION, NEW_AGENT } from './agents/operations.ts';
import { enrol } from './endpoints/http-sensor.ts';
import { file } from './endpoints/sensor-double.ts';
import { type Service, startService } from './service.ts';

const BUG = { credential_type: 'web_bug', plant_location: 'wiki', label: 'x' };
const BEFORE = [file('/usr/bin/tool', 'a')];
const AFTER = [file('/usr/bin/tool', 'b')];

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Creates a record of each kind that the services keep. */
async function makeRecords(): Promise<void> {
  const { credential } = (await service.call('POST', '//traps/api/v1/credentials/generate', BUG)).body;
  await fetch(credential.url);
  const endpoint = await enrol(service);
  const baseline = { endpoint_id: endpoint.id, name: 'x', roots: ['/usr/bin'], lines: BEFORE, complete: true };
  await service.call('POST', '//endpoints/baselines/register', baseline);
  await endpoint.report(AFTER);
  const { agent_id } = (await service.call('POST', `${AGENTS_API}/agents`, NEW_AGENT)).body;
  await service.call('POST', `${AGENTS_API}/agents/${agent_id}/onboard`, {});
  await service.call('POST', `${AGENTS_API}/agents/${agent_id}/actions`, NEW_ACTION);
}

/** Creates a folder configured to export the platform and its services' records. */
function placed(): { directory: string; run(): ReturnType<typeof evidence> } {
  const directory = mkdtempSync(join(tmpdir(), 'exported-supplements-'));
  const urls = {
    traps_url: `${service.origin}/traps/api/v1`,
    endpoints_url: `${service.origin}/endpoints`,
    agents_url: `${service.origin}/agents/api/v1`,
  };
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify({ source: urls }));
  const env = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: service.apiKey };
  const words = ['--request', 'A', '--all-time', '--json'];
  return { directory, run: () => evidence(['export', ...words], { cwd: directory, env }) };
}

test('what the services of the platform record is proved by its entries, and verified', async () => {
  await makeRecords();
  const { directory, run } = placed();
  const { code, stdout, stderr } = await run();
  expect(code, stderr).toBe(0);
  const { kinds, findings } = JSON.parse(stdout).supplements;
  const proved = { in_period: 1, proved_by_entry: 1 };
  expect({ ...kinds, findings }).toMatchObject({
    detections: proved,
    events: proved,
    scans: proved,
    actions: proved,
    verifications: { in_period: 1, unproved: 1 },
    findings: [],
  });
  const verified = await evidence(['verify', 'evidence-archive'], { cwd: directory });
  expect(verified.code, verified.stdout).toBe(0);
});

test('a detection whose entry somebody altered in the database is contradicted, and its stream refuted', async () => {
  await service.sql(`DROP TRIGGER entries_no_update;
    UPDATE entries SET metadata = replace(metadata, '"label":"x"', '"label":"y"') WHERE action = 'trap.used'`);
  const { directory, run } = placed();
  const { code, stdout } = await run();
  const { kinds } = JSON.parse(stdout).supplements;
  expect([code, kinds.detections]).toMatchObject([1, { in_period: 1, proved_by_entry: 0, contradicted: 1 }]);
  expect([kinds.events, kinds.scans, kinds.actions]).toMatchObject(
    [1, 1, 1].map((count) => ({ proved_by_entry: count })),
  );
  const { code: exit, stdout: report } = await evidence(['verify', 'evidence-archive', '--json'], { cwd: directory });
  const [verified] = JSON.parse(report).runs;
  expect([exit, verified.supplements.kinds.detections.contradicted]).toEqual([1, 1]);
  const refuted = verified.streams.filter(({ status }: { status: string }) => status === 'refuted');
  expect(refuted.map(({ stream_id }: { stream_id: string }) => stream_id)).toEqual(['traps']);
});

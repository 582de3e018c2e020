import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startCountingProxy } from '../support/counting-proxy.ts';
import { evidence } from '../support/evidence.ts';
import { makeBucket, useRadosgw } from '../support/radosgw.ts';
import { startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_of_counted_requests_1';
const HELP = resolve(import.meta.dirname, '../../templates/help/performance.md');

/** Requests of an export of so many streams: to the service, and by method to the store. */
async function countRequests(streams: number): Promise<{ service: number; store: Record<string, number> }> {
  const gateway = await useRadosgw();
  const store = await startCountingProxy(gateway.endpoint);
  const names = Array.from({ length: streams }, (_, n) => [`stream-${n}`, 50] as const);
  const service = await startFaultyService({ apiKey: KEY, streams: new Map(names), fault: () => undefined });
  onTestFinished(async () => {
    store.close();
    await service.close();
  });
  const cwd = mkdtempSync(join(tmpdir(), 'requests-'));
  const bucket = await makeBucket(gateway, 'versioned');
  writeFileSync(
    join(cwd, 'evidence.yaml'),
    JSON.stringify({ archive: { url: `s3://${bucket}/prod`, endpoint: store.url } }),
  );
  const env = { ...gateway.env, EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
  const { code, stderr } = await evidence(['export', '--all-time', '--request', 'COUNTED'], { cwd, env });
  expect(code, stderr).toBe(0);
  return { service: service.requests.length, store: store.counts };
}

test('a stream takes as many requests as the help reckons with, however many there are', async () => {
  const [few, more] = [await countRequests(4), await countRequests(12)];
  const each = (count: (counted: typeof few) => number) => (count(more) - count(few)) / 8;
  const help = readFileSync(HELP, 'utf8');
  const row = (what: string) => new RegExp(`^\\| ${what} \\| ([\\d,]+) \\|`, 'm').exec(help)?.[1];
  expect(String(each(({ service }) => service))).toBe(row('requests to the service, per stream'));
  expect(String(each(({ store }) => store['PUT'] ?? 0))).toBe(row('PUT to the store, per stream'));
  expect(String(each(({ store }) => (store['GET'] ?? 0) + (store['HEAD'] ?? 0)))).toBe(
    row('GET and HEAD to the store, per stream'),
  );
});

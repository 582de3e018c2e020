import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { makeBucket, useRadosgw } from '../support/radosgw.ts';
import { startRelay } from '../support/relay.ts';
import { startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_of_counted_requests_1';
const HELP = resolve(import.meta.dirname, '../../templates/help/performance.md');

/** Counts the requests of an export with this many streams: to the service, and to the store by method. */
async function countRequests(streams: number) {
  const gateway = await useRadosgw();
  const store = await startRelay(gateway.endpoint);
  const names = Array.from({ length: streams }, (_, n) => [`stream-${n}`, 50] as const);
  const service = await startFaultyService({ apiKey: KEY, streams: new Map(names), fault: () => undefined });
  onTestFinished(async () => {
    await store.close();
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
  const ofStore = (...methods: string[]) => store.requests.filter(({ method }) => methods.includes(method)).length;
  return { service: service.requests.length, put: ofStore('PUT'), read: ofStore('GET', 'HEAD') };
}

test('a stream takes as many requests as the help reckons with, however many there are', async () => {
  const [few, more] = [await countRequests(4), await countRequests(12)];
  const each = (count: (counted: typeof few) => number) => (count(more) - count(few)) / 8;
  const help = readFileSync(HELP, 'utf8');
  const row = (what: string) => new RegExp(`^\\| ${what} \\| ([\\d,]+) \\|`, 'm').exec(help)?.[1];
  expect(String(each(({ service }) => service))).toBe(row('requests to the service, per stream'));
  expect(String(each(({ put }) => put))).toBe(row('PUT to the store, per stream'));
  expect(String(each(({ read }) => read))).toBe(row('GET and HEAD to the store, per stream'));
});

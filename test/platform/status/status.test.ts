import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toExposition } from '../../../src/core/exposition.ts';
import { createServer } from '../../../src/platform/http/server.ts';
import { Histogram } from '../../../src/platform/metrics/histogram.ts';
import { Readiness, type ReadinessCheck, statusRoutes } from '../../../src/platform/status/routes.ts';
import { readDocument } from '../../support/documents.ts';
import { call, entry, SERVICES, type Service } from '../service.ts';

const NAMES = ['database', 'migrations', 'master_key', 'scheduler', 'clock', 'mail_folder'];

describe.each(SERVICES)('on %s', (name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());
  const metrics = async () => (await service.call('GET', '//metrics')).text;

  test('it lives, and is ready once its jobs are looked after', async () => {
    const health = await call(service.origin, '', 'GET', '/health', undefined, { authorization: '' });
    expect([health.status, health.body]).toEqual([200, { status: 'alive' }]);
    const ready = () => call(service.origin, '', 'GET', '/ready', undefined, { authorization: '' });
    await expect.poll(async () => (await ready()).status).toBe(200);
    const checks = Object.fromEntries(NAMES.map((each) => [each, true]));
    expect((await ready()).body).toEqual({ ready: true, checks, reasons: {} });
  });

  test('the metrics count what was done, by routes and by nothing that a caller made up', async () => {
    await service.call('POST', '/entries/', entry('secret-stream', 1), { 'idempotency-key': 'k' });
    await service.call('POST', '/entries/', entry('secret-stream', 1), { 'idempotency-key': 'k' });
    await service.call('POST', '/entries/batch', { entries: [entry('secret-stream', 2), entry('secret-stream', 3)] });
    await service.call('POST', '/streams/secret-stream/verify');
    await service.call('GET', '/streams/secret-stream?secret-query=1');
    await service.call('GET', '//secret-path');
    const text = await metrics();
    expect(numberOf(text, 'audit_append_requests_total')).toBe(3);
    expect(numberOf(text, 'audit_entries_appended_total')).toBe(3);
    expect(numberOf(text, 'audit_verify_duration_seconds_count{outcome="verified"}')).toBe(1);
    const requests = 'http_request_duration_seconds_count';
    expect(numberOf(text, `${requests}{method="POST",route="/audit/entries/",status="201"}`)).toBe(1);
    expect(numberOf(text, `${requests}{method="GET",route="/audit/streams/:stream_id",status="200"}`)).toBe(1);
    expect(numberOf(text, `${requests}{method="any",route="none",status="404"}`)).toBe(1);
    expect(numberOf(text, 'outbox_waiting_messages')).toBe(0);
    expect(numberOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e7);
    expect(numberOf(text, 'nodejs_eventloop_lag_seconds{quantile="0.99"}')).toBeGreaterThanOrEqual(0);
    expect(text).not.toContain('secret');
    expect(text.includes('database_connections{state="open"}')).toBe(name === 'PostgreSQL');
  });

  test('the metrics are those of Prometheus: each line is a comment or a sample', async () => {
    const sample = /^[a-z_]+(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? -?[0-9.e+-]+$/;
    for (const line of (await metrics()).trimEnd().split('\n'))
      expect(/^# (HELP|TYPE) [a-z_]+ \S/.test(line) || sample.test(line), line).toBe(true);
  });

  test('the topic names no number that there is not', async () => {
    const { text } = readDocument('templates/help/platform/run.md');
    const named = [...text.matchAll(/`((?:audit|http|job|nodejs|outbox|process)_\w+)/g)].map(([, each]) => each);
    expect(named.length).toBeGreaterThan(3);
    const told = await metrics();
    for (const each of named) expect(told).toContain(`# TYPE ${each} `);
  });

  test('a job that ended well is told with its time', async () => {
    await expect
      .poll(async () => numberOf(await metrics(), 'job_last_success_timestamp_seconds{job="audit/anchor-pending"}'))
      .toBeGreaterThan(Date.now() / 1000 - 600);
    expect(numberOf(await metrics(), 'job_failed{job="audit/anchor-pending"}')).toBe(0);
  });

  test('without a key, or without the scope, nobody reads them', async () => {
    const { body } = await service.call('POST', '//keys/', { name: 'reader', scopes: ['audit:read'] });
    const statuses = await Promise.all(
      ['', body.api_key].map(async (key) => (await call(service.origin, key, 'GET', '/metrics')).status),
    );
    expect(statuses).toEqual([401, 403]);
  });
});

/** Returns the number after a name and its labels. */
function numberOf(text: string, sample: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
  return line === undefined ? Number.NaN : Number(line.slice(sample.length + 1));
}

test('a histogram counts each bucket with those below it', () => {
  const histogram = new Histogram('t', 'Times.', [1, 2]);
  for (const seconds of [0.5, 1, 1.5, 9]) histogram.observe(seconds, { of: 'a "b"\n\\' });
  const labels = 'of="a \\"b\\"\\n\\\\"';
  expect(toExposition([histogram.family()])).toBe(
    `# HELP t Times.\n# TYPE t histogram\nt_bucket{${labels},le="1"} 2\nt_bucket{${labels},le="2"} 3\n` +
      `t_bucket{${labels},le="+Inf"} 4\nt_sum{${labels}} 12\nt_count{${labels}} 4\n`,
  );
});

describe('in one process', () => {
  const serve = async (checks: Record<string, ReadinessCheck>, metricsFor: 'key' | 'loopback' = 'key') => {
    const clock = () => new Date(now);
    const rateLimits = { requestsPerMinute: 100, refusalsPerMinute: 100 };
    const authenticate = async () => ({ kind: 'key' as const, id: 'k', name: 'k', scopes: [] });
    const server = createServer({ logLevel: 'silent', rateLimits, clock, authenticate, trustedProxies: ['127.0.0.1'] });
    await statusRoutes(server, { readiness: new Readiness(checks, clock), collect: [], metricsFor });
    return server;
  };
  let now = 0;

  test('a failed check is named with its reason and 503, and no error is shown', async () => {
    const failing = async () => {
      throw new Error('password of the database');
    };
    const server = await serve({ one: async () => null, two: async () => 'it is gone', three: failing });
    const { statusCode, body } = await server.inject('/ready');
    expect([statusCode, JSON.parse(body)]).toEqual([
      503,
      {
        ready: false,
        checks: { one: true, two: false, three: false },
        reasons: { two: 'it is gone', three: 'no answer within 2 seconds, or an error' },
      },
    ]);
  });

  test('however often somebody asks, it is looked once a second', async () => {
    let looks = 0;
    const server = await serve({ one: async () => (++looks > 0 ? null : 'never') });
    for (let asked = 0; asked < 5; asked++) await server.inject('/ready');
    expect(looks).toBe(1);
    now += 1000;
    await server.inject('/ready');
    expect(looks).toBe(2);
  });

  test.each([
    ['from this machine', '127.0.0.1', {}, 200],
    ['from this machine over IPv6', '::1', {}, 200],
    ['from another one', '192.0.2.7', {}, 403],
    ['passed on by a proxy of this machine', '127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }, 403],
    ['passed on, with a false sender', '127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, 403],
    ['passed on by another kind of proxy', '127.0.0.1', { via: '1.1 somewhere' }, 403],
  ] as const)('metrics for this machine, asked %s', async (_name, remoteAddress, headers, status) => {
    const server = await serve({}, 'loopback');
    expect((await server.inject({ url: '/metrics', remoteAddress, headers })).statusCode).toBe(status);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVICES, type Service } from '../service.ts';
import { ENDPOINTS, enrol } from './http-sensor.ts';
import { file, files, withoutLines } from './sensor-double.ts';

const TOOL = file('/usr/bin/tool');

describe.each(SERVICES)('on %s', (_name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    service.call(method, ENDPOINTS + path, body, headers);

  test('enrolment registers no baseline and says so, and its token is good for this endpoint alone', async () => {
    const { status, body } = await call('POST', '/enroll', { name: 'web-1' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'web-1', scan_interval_seconds: 3600, baseline: null });
    expect(body.message).toContain('Enrollment registers no baseline');
    expect(body.roots).toContain('/usr/bin');
    expect((await call('GET', `/baselines/?endpoint_id=${body.endpoint_id}`)).body.data).toEqual([]);
    const [key] = (await service.call('GET', '//keys/')).body.data;
    expect(key).toMatchObject({ scopes: ['endpoints:report'], bound_to: `endpoint:${body.endpoint_id}` });
    const rotated = await service.call('POST', `//keys/${key.key_id}/rotate`);
    expect(rotated.body.bound_to).toBe(key.bound_to);
    const settings = await call('GET', '/sensor/settings', undefined, {
      authorization: `Bearer ${rotated.body.api_key}`,
    });
    expect(settings.body).toMatchObject({
      endpoint_id: body.endpoint_id,
      next: { sequence: 1, previous_report_sha256: null },
    });
    const unbound = await call('GET', '/sensor/settings');
    expect([unbound.status, unbound.body.detail]).toEqual([403, expect.stringContaining('not bound to an endpoint')]);
  });

  test('an enrolment that is sent twice under one key enrols once', async () => {
    const send = () => call('POST', '/enroll', { name: 'twice' }, { 'idempotency-key': 'once' });
    expect((await send()).status).toBe(201);
    expect((await send()).body.code).toBe('key_shown_before');
    const { data } = (await call('GET', '/hosts/')).body;
    expect(data.filter(({ name }: { name: string }) => name === 'twice')).toHaveLength(1);
  });

  test('a scan proposed and approved is a baseline, and a change is an event with its entry', async () => {
    const sensor = await enrol(service);
    const first = await sensor.report([TOOL]);
    expect([first.status, first.body.baseline, first.body.events]).toEqual([
      201,
      null,
      { open: 0, raised: 0, resolved: 0 },
    ]);
    expect(first.body.message).toContain('no active baseline');
    const input = { from: 'latest_scan', name: 'first', reason: 'a new machine' };
    const proposed = await call('POST', `/hosts/${sensor.id}/baselines`, input);
    expect([proposed.status, proposed.body.status]).toEqual([201, 'proposed']);
    const difference = await call('GET', `/baselines/${proposed.body.baseline_id}/difference`);
    expect(difference.body).toMatchObject({
      compared_with: null,
      data: [{ path: '/usr/bin/tool', event_type: 'binary_added' }],
    });
    const approved = await call('POST', `/baselines/${proposed.body.baseline_id}/approve`, { reason: 'looked at' });
    expect(approved.body).toMatchObject({ status: 'active', version: 1, line_count: 1 });
    const changed = await sensor.report([file('/usr/bin/tool', 'b')]);
    expect(changed.body.events).toEqual({ open: 1, raised: 1, resolved: 0 });
    const { data } = (await call('GET', `/events/?endpoint_id=${sensor.id}`)).body;
    expect(data).toMatchObject([
      { event_type: 'binary_modified', severity: 'high', path: '/usr/bin/tool', status: 'open' },
    ]);
    const { stream_id, sequence } = data[0].entry;
    const entries = (await service.call('GET', `/entries/?stream_id=${encodeURIComponent(stream_id)}`)).body.data;
    const entry = entries.find((each: { sequence: number }) => each.sequence === sequence);
    expect(entry).toMatchObject({ action: 'events.raised', metadata: { events: [{ event_id: data[0].event_id }] } });
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      ...['endpoint.enrolled', 'endpoint.key_bound', 'report.accepted', 'baseline.proposed', 'baseline.approved'],
      ...['report.accepted', 'events.raised'],
    ]);
    const acknowledged = await call('POST', `/events/${data[0].event_id}/acknowledge`);
    expect(acknowledged.body.status).toBe('acknowledged');
    expect((await call('GET', `/hosts/${sensor.id}`)).body).toMatchObject({ status: 'reporting', events: { high: 1 } });
    expect((await call('POST', `/hosts/${sensor.id}/verify`)).body).toMatchObject({
      verified: true,
      reports_checked: 2,
    });
    expect((await call('GET', `/hosts/${sensor.id}`)).body.last_check).toEqual({
      checked_at: expect.any(String),
      verified: true,
      reports_checked: 2,
      findings: 0,
    });
  });

  test('an unchanged report has less than 2 KB, and needs its lines only where nobody knows them', async () => {
    const sensor = await enrol(service);
    const lines = files(2001);
    const first = await sensor.made(lines);
    const unknown = await sensor.send('POST', '/scans/report', withoutLines(first));
    expect([unknown.status, unknown.body.code]).toEqual([409, 'lines_needed']);
    const half = await sensor.part(first, 1);
    expect([half.status, half.body]).toEqual([202, { part: 1, next_part: 2, parts: 2 }]);
    expect((await sensor.part(first, 2)).status).toBe(201);
    const second = withoutLines(await sensor.made(lines));
    expect(JSON.stringify(second).length).toBeLessThan(2048);
    expect((await sensor.send('POST', '/scans/report', second)).body).toMatchObject({ sequence: 2 });
    const alike = await enrol(service);
    expect((await alike.send('POST', '/scans/report', withoutLines(await alike.made(lines)))).status).toBe(201);
  });

  test('the list of events is answered with 304 until one changes', async () => {
    const { headers } = await call('GET', '/events/');
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await call('GET', '/events/', undefined, known)).status).toBe(304);
    const sensor = await enrol(service);
    await sensor.report([TOOL]);
    expect((await call('GET', '/events/', undefined, known)).status).toBe(304);
    await call('POST', '/baselines/register', {
      endpoint_id: sensor.id,
      name: 'b',
      roots: ['/'],
      lines: [],
      complete: true,
    });
    expect((await call('GET', '/events/', undefined, known)).status).toBe(200);
  });

  test('to isolate is a label and says so; the endpoint reports on', async () => {
    const sensor = await enrol(service);
    const { body } = await call('POST', `/hosts/${sensor.id}/isolate`, { reason: 'it behaves oddly' });
    expect(body.isolation).toMatchObject({
      isolated: true,
      effect: 'label_only',
      network_action: 'none',
      reason: 'it behaves oddly',
    });
    expect((await sensor.report([TOOL])).status).toBe(201);
    expect((await call('POST', `/hosts/${sensor.id}/isolate`, { reason: 'again' })).body.code).toBe('conflict');
    const released = await call('POST', `/hosts/${sensor.id}/release`, { reason: 'it was a test' });
    expect(released.body.isolation).toMatchObject({ isolated: false, network_action: 'none', reason: null });
  });

  test('who is retired reports no more, is waited for by nobody, and keeps what it reported', async () => {
    const sensor = await enrol(service);
    await sensor.report([TOOL]);
    const baseline = { endpoint_id: sensor.id, name: 'none', roots: ['/'], lines: [], complete: true };
    await call('POST', '/baselines/register', baseline);
    const late = await sensor.made([TOOL]);
    await call('POST', `/hosts/${sensor.id}/baselines`, { from: 'latest_scan', name: 'late', reason: 'x' });
    const { body: before } = await call('GET', '/stats/');
    const retired = await call('POST', `/hosts/${sensor.id}/retire`, { reason: 'the machine was sold' });
    expect(retired.body).toMatchObject({
      status: 'retired',
      missed_scans: 0,
      stale_at: null,
      baseline: null,
      events: { high: 1 },
      retirement: { at: expect.any(String), by: expect.stringMatching(/^key:/), reason: 'the machine was sold' },
    });
    expect((await sensor.part(late)).body.code).toBe('key_revoked');
    const { body: after } = await call('GET', '/stats/');
    expect(after).toEqual({
      ...before,
      hosts: before.hosts - 1,
      proposed_baselines: before.proposed_baselines - 1,
      last_report_at: expect.anything(),
    });
    const listed = async (query: string) =>
      (await call('GET', `/hosts/${query}`)).body.data.some((host: { endpoint_id: string }) => {
        return host.endpoint_id === sensor.id;
      });
    expect([await listed(''), await listed('?status=retired')]).toEqual([false, true]);
    const baselines = (await call('GET', `/baselines/?endpoint_id=${sensor.id}`)).body.data;
    expect(baselines.map(({ status }: { status: string }) => status)).toEqual(['rejected', 'superseded']);
    expect((await call('POST', `/hosts/${sensor.id}/verify`)).body.verified).toBe(true);
    const entries = (await service.call('GET', `/entries/?stream_id=${encodeURIComponent(`endpoints/${sensor.id}`)}`))
      .body.data;
    expect(entries.at(-1)).toMatchObject({
      action: 'endpoint.retired',
      resource_id: sensor.id,
      metadata: { reason: 'the machine was sold', last_sequence: 1, revoked_keys: [expect.any(String)] },
    });
    for (const [method, path, body] of [
      ['POST', 'retire', { reason: 'again' }],
      ['POST', 'restart', { reason: 'x' }],
      ['POST', 'isolate', { reason: 'x' }],
      ['POST', 'baselines', { from: 'latest_scan', name: 'x', reason: 'x' }],
      ['POST', 'bait', { credential_type: 'aws_key', path: '/home/x', label: 'x' }],
    ] as const) {
      const { status, body: problem } = await call(method, `/hosts/${sensor.id}/${path}`, body);
      expect([path, status, problem.detail]).toEqual([path, 409, expect.stringContaining('was retired at')]);
    }
  });
});

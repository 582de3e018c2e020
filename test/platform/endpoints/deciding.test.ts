import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newWindowSchema } from '../../../src/platform/endpoints/wire/events.ts';
import { DATABASES } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { EndpointPlace, HOUR, person, type Reporter } from './endpoint-place.ts';
import { makeKnown } from './packages/known-rows.ts';
import { file } from './sensor-double.ts';

const LINES = [file('/usr/bin/a'), file('/usr/bin/b')];
const OTHER = [file('/usr/bin/a'), file('/usr/bin/b', 'b')];
const PROPOSAL = { from: 'latest_scan', name: 'a baseline', reason: 'an upgrade' } as const;
const LOOKED = { reason: 'looked at' };
const ANN = person('ann');
const BOB = person('bob');

describe.each(DATABASES)('on %s', (_name, start) => {
  let at: EndpointPlace;
  let host: Reporter;
  beforeAll(async () => {
    at = await EndpointPlace.open(start);
  });
  afterAll(() => at.close());
  beforeEach(async () => {
    host = await at.enrolled();
    at.approvers = 1;
    at.alerts.length = 0;
  });

  const actionsOf = async (prefix: string) =>
    (await at.entries(host.id))
      .filter(({ action }) => action.startsWith(prefix))
      .map(({ action, actor }) => [action, actor]);

  test('a proposal is approved by another person where there are two, and both are entries', async () => {
    at.approvers = 2;
    const { baselines } = at.service;
    await host.reports(LINES);
    const { baseline_id } = await baselines.propose(ANN, host.id, PROPOSAL);
    await expect(baselines.approve(ANN, baseline_id, LOOKED)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(baselines.approve({ ...ANN, name: 'key:k' }, baseline_id, LOOKED)).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect((await baselines.find(baseline_id)).status).toBe('proposed');
    expect((await at.service.hosts.find(host.id)).baseline).toBeNull();
    expect(await baselines.approve(BOB, baseline_id, LOOKED)).toMatchObject({
      status: 'active',
      made_by: ANN.name,
      decided_by: BOB.name,
    });
    await expect(baselines.approve(BOB, baseline_id, LOOKED)).rejects.toMatchObject({ code: 'conflict' });
    expect(await actionsOf('baseline.')).toEqual([
      ['baseline.proposed', ANN.name],
      ['baseline.approved', BOB.name],
    ]);
  });

  test('where there is one, they approve what they proposed', async () => {
    await host.reports(LINES);
    const { baseline_id } = await at.service.baselines.propose(ANN, host.id, PROPOSAL);
    expect(await at.service.baselines.approve(ANN, baseline_id, LOOKED)).toMatchObject({ status: 'active' });
  });

  test('what a scan is approved with is compared at once: its events are resolved, and the earlier version is superseded', async () => {
    const { baselines } = at.service;
    const first = await host.baseline(LINES);
    await host.reports(OTHER);
    const proposed = await baselines.propose(ANN, host.id, PROPOSAL);
    expect(proposed).toMatchObject({ status: 'proposed', version: 2 });
    expect(await baselines.propose(ANN, host.id, PROPOSAL)).toEqual(proposed);
    const difference = await baselines.difference(proposed.baseline_id, { limit: 10 });
    expect(difference).toMatchObject({
      compared_with: { version: 1 },
      data: [{ path: '/usr/bin/b', event_type: 'binary_modified' }],
    });
    expect(await host.open()).toHaveLength(1);
    await baselines.approve(ANN, proposed.baseline_id, LOOKED);
    expect(await host.open()).toEqual([]);
    expect((await baselines.find(first.baseline_id)).status).toBe('superseded');
    expect((await host.reports(OTHER)).events).toEqual({ open: 0, raised: 0, resolved: 0 });
    expect((await host.reports(LINES)).events).toMatchObject({ raised: 1 });
  });

  test('a rejected proposal changes nothing else', async () => {
    const { baselines } = at.service;
    await host.baseline(LINES);
    await host.reports(OTHER);
    const { baseline_id } = await baselines.propose(ANN, host.id, PROPOSAL);
    expect(await baselines.reject(BOB, baseline_id, { reason: 'not meant' })).toMatchObject({
      status: 'rejected',
      decided_reason: 'not meant',
    });
    expect(await host.open()).toHaveLength(1);
    expect((await at.service.hosts.find(host.id)).baseline).toMatchObject({ version: 1 });
    expect((await actionsOf('baseline.')).at(-1)).toEqual(['baseline.rejected', BOB.name]);
  });

  test('a baseline is registered in parts, and once however often it is sent', async () => {
    const { baselines } = at.service;
    const body = { endpoint_id: host.id, name: 'from a file', roots: ['/usr/bin'], complete: true, parts: 2 };
    const send = async () => {
      expect(await baselines.register(SOMEBODY, { ...body, part: 1, lines: LINES.slice(0, 1) })).toEqual({
        part: 1,
        next_part: 2,
        parts: 2,
      });
      return baselines.register(SOMEBODY, { ...body, part: 2, lines: LINES.slice(1) });
    };
    const registered = await send();
    expect(registered).toMatchObject({ status: 'active', origin: 'registered', version: 1, line_count: 2 });
    expect(await send()).toEqual(registered);
    expect(await actionsOf('baseline.')).toEqual([['baseline.registered', SOMEBODY.name]]);
    expect((await host.reports(OTHER)).events).toMatchObject({ raised: 1 });
  });

  test('a difference is given page by page', async () => {
    await host.baseline(LINES);
    await host.reports([file('/usr/bin/0'), file('/usr/bin/c'), file('/usr/bin/d')]);
    const { baseline_id } = await at.service.baselines.propose(ANN, host.id, PROPOSAL);
    const paths: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await at.service.baselines.difference(baseline_id, { limit: 2, cursor });
      paths.push(...page.data.map(({ path, event_type }) => `${event_type} ${path}`));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(paths).toEqual([
      ...['binary_added /usr/bin/0', 'binary_removed /usr/bin/a', 'binary_removed /usr/bin/b'],
      ...['binary_added /usr/bin/c', 'binary_added /usr/bin/d'],
    ]);
  });

  test('a change window quiets what changes, lists it, and ends by itself; it quiets nothing of reports', async () => {
    const { windows, events } = at.service;
    await host.baseline(LINES);
    const until = new Date(at.now + HOUR).toISOString();
    const input = newWindowSchema.parse({ endpoint_ids: [host.id], until, reason: 'an upgrade' });
    const { window_id } = await windows.open(ANN, input, 'once');
    expect(await windows.open(ANN, input, 'once')).toMatchObject({ window_id, status: 'running', all: false });
    await host.reports(OTHER);
    expect(await at.events({ window_id })).toMatchObject([{ status: 'quieted', severity: 'high', path: '/usr/bin/b' }]);
    expect(at.alerts).toEqual([]);
    const [started_at, finished_at] = [until, until].map((time) =>
      new Date(Date.parse(time) + 48 * HOUR).toISOString(),
    );
    await host.reports(OTHER, { started_at, finished_at });
    expect(at.alerts).toMatchObject([{ kind: 'endpoint.chain' }]);
    at.now += HOUR;
    expect(await windows.find(window_id)).toMatchObject({ status: 'ended', events: 1, endpoint_ids: [host.id] });
    await host.reports([...OTHER, file('/usr/bin/c')]);
    expect((await host.open()).map(({ path, status }) => `${path} ${status}`).sort()).toEqual([
      '/usr/bin/b quieted',
      '/usr/bin/c open',
    ]);
    expect(at.alerts).toMatchObject([{}, { kind: 'endpoint.changed', severity: 'high', flood_key: host.id }]);
    expect(await windows.approve(BOB, window_id, { reason: 'it was the upgrade' })).toMatchObject({
      approved_by: BOB.name,
    });
    const [approved] = await at.events({ window_id });
    expect(approved).toMatchObject({
      status: 'acknowledged',
      severity: 'low',
      explanation: { kind: 'approved_change', id: window_id },
    });
    const reopened = await events.reopen(BOB, approved?.event_id ?? '');
    expect(reopened).toMatchObject({ status: 'open', severity: 'high', explanation: { kind: 'none' } });
  });

  test('what a window quieted is opened again by whoever says so, and one for all is for each', async () => {
    const { windows } = at.service;
    await host.baseline(LINES);
    const until = new Date(at.now + HOUR).toISOString();
    const { window_id } = await windows.open(
      ANN,
      newWindowSchema.parse({ all: true, until, reason: 'patch day' }),
      undefined,
    );
    await host.reports(OTHER);
    expect(await host.open()).toMatchObject([{ status: 'quieted', window_id }]);
    await windows.reopen(BOB, window_id, { reason: 'nobody knows it' });
    expect(await host.open()).toMatchObject([{ status: 'open', severity: 'high' }]);
    at.now += HOUR;
  });

  test.each([
    ['longer than seven days', { all: true, until: 8 * 24 }],
    ['in the past', { all: true, until: -1 }],
    ['from a time that is past', { all: true, from: -2, until: 2 }],
    ['that ends before it begins', { all: true, from: 3, until: 2 }],
    ['for nobody', { until: 1 }],
    ['for one and all', { endpoint_ids: ['x'], all: true, until: 1 }],
  ])('no change window is %s', async (_words, { from, until, ...of }: { from?: number; until: number }) => {
    const inHours = (hours: number) => new Date(at.now + hours * HOUR).toISOString();
    const times = { until: inHours(until), ...(from === undefined ? {} : { from: inHours(from) }) };
    const input = newWindowSchema.parse({ ...of, ...times, reason: 'x' });
    await expect(at.service.windows.open(ANN, input, undefined)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('a change that is approved is explained wherever it stands, also where it is seen later', async () => {
    const { changes } = at.service;
    const path = `/usr/bin/${host.id}`;
    const later = await at.enrolled();
    for (const each of [host, later]) await each.baseline([file(path)]);
    await host.reports([file(path, 'b')]);
    const [{ change_id = '' } = {}] = await host.open();
    await changes.approve(ANN, change_id ?? '', { reason: 'our own build' });
    expect(await host.open()).toMatchObject([
      { status: 'acknowledged', severity: 'low', explanation: { kind: 'approved_change', id: change_id } },
    ]);
    await later.reports([file(path, 'b')]);
    expect(await later.open()).toMatchObject([
      { status: 'open', severity: 'low', explanation: { kind: 'approved_change' } },
    ]);
    expect(await changes.find(change_id ?? '')).toMatchObject({
      places: 2,
      of: 2,
      approved_by: ANN.name,
      approved_reason: 'our own build',
    });
  });

  test('an acknowledged event stays, is seen again as such, and is resolved', async () => {
    const { events } = at.service;
    await host.baseline(LINES);
    await host.reports(OTHER);
    const [{ event_id = '' } = {}] = await host.open();
    expect(await events.acknowledge(ANN, event_id)).toMatchObject({
      status: 'acknowledged',
      acknowledged_by: ANN.name,
    });
    await host.reports(OTHER);
    expect(await host.open()).toMatchObject([{ status: 'acknowledged', occurrences: 2 }]);
    await host.reports(LINES);
    expect(await events.find(event_id)).toMatchObject({ status: 'resolved', acknowledged_by: ANN.name });
    await expect(events.acknowledge(ANN, event_id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(events.reopen(ANN, event_id)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('an endpoint that was silent for three intervals is stale, once, and its next report ends that', async () => {
    await host.reports(LINES);
    at.now += 3 * HOUR - 1;
    await at.stale();
    expect(await host.open()).toEqual([]);
    at.now += 1;
    await at.stale();
    await at.stale();
    expect(await host.open()).toMatchObject([{ event_type: 'stale', severity: 'high', occurrences: 1 }]);
    expect(at.alerts.filter(({ flood_key }) => flood_key === host.id)).toMatchObject([{ kind: 'endpoint.stale' }]);
    expect(await at.service.hosts.find(host.id)).toMatchObject({ status: 'stale', missed_scans: 2 });
    await host.reports(LINES);
    expect(await host.open()).toEqual([]);
    expect(await at.service.hosts.find(host.id)).toMatchObject({ status: 'reporting', missed_scans: 2 });
  });

  test('one that never reported is stale, too', async () => {
    at.now += 3 * HOUR;
    await at.stale();
    expect(await at.service.hosts.find(host.id)).toMatchObject({ status: 'stale', last_report: null, missed_scans: 2 });
  });

  test('what archives know at this path explains, and lowers; what is known of another path, or has other rights, does not', async () => {
    const changed = file('/usr/bin/b', host.id.slice(0, 30));
    const explained = { name: 'coreutils', version: '9.1', archive: 'Debian bookworm main', signed_by: 'Debian' };
    const { sha256 } = changed as { sha256: string };
    await host.baseline(LINES);
    await host.reports([LINES[0] as never, changed]);
    await makeKnown(at.database, { sha256, path: '/usr/bin/sudo' });
    expect(await at.service.events.explainAgain()).toBe(0);
    await makeKnown(at.database, { sha256, path: '/usr/bin/b' });
    expect(await at.service.events.explainAgain()).toBe(1);
    expect(await host.open()).toMatchObject([
      { severity: 'low', explanation: { kind: 'signed_package', ...explained } },
    ]);
    await host.reports(LINES);
    await host.reports([LINES[0] as never, { ...changed, mode: '4755' } as never]);
    expect(await host.open()).toMatchObject([{ severity: 'critical', explanation: { kind: 'none' } }]);
    await host.reports([LINES[0] as never, changed]);
    expect(await host.open()).toMatchObject([{ severity: 'low', explanation: { kind: 'signed_package' } }]);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { newChain } from '../../../src/platform/endpoints/host-rows.ts';
import { DATABASES } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { EndpointPlace, HOUR, type Reporter } from './endpoint-place.ts';
import { file, files, nextAfter, partOf, SensorDouble, type SentReport } from './sensor-double.ts';

const LINES = [file('/usr/bin/a'), file('/usr/bin/b')];
const OTHER = [file('/usr/bin/a'), file('/usr/bin/b', 'b')];
const DAY = 24 * HOUR;

/** Returns everything stored about an endpoint except events, and the stream's entries about reports. */
async function rowsOf(database: Database, at: EndpointPlace, id: string) {
  const tables = database.tables<Record<string, object>>();
  const rows: unknown[] = [];
  for (const table of ['endpoint_scans', 'endpoint_keys', 'line_sets', 'line_chunks', 'line_set_chunks', 'baselines'])
    rows.push(await tables.selectFrom(table).selectAll().execute());
  for (const table of ['staged_sets', 'staged_parts']) rows.push(await tables.selectFrom(table).selectAll().execute());
  const endpoints = await tables.selectFrom('endpoints').selectAll().execute();
  rows.push(endpoints.map((row) => ({ ...row, went_back_at: null })));
  const entries = (await at.entries(id)).filter(({ action }) => action !== 'events.raised');
  return JSON.stringify([rows, entries.map(({ entry_id }) => entry_id)]);
}

/** A request sent instead of the next report, and its result. */
interface Row {
  words: string;
  code: string;
  /** Type of the event raised; null for none. */
  event: string | null;
  severity?: string;
  send(host: Reporter, before: SentReport): Promise<unknown>;
}

const ROWS: readonly Row[] = [
  {
    words: 'a signature of another key',
    code: 'report_signature',
    event: 'report_signature',
    severity: 'high',
    async send(host) {
      const { head, lines } = await host.made(OTHER);
      return host.send(new SensorDouble(host.id).signed(head, lines));
    },
  },
  {
    words: 'a head that was changed after its signature',
    code: 'report_signature',
    event: 'report_signature',
    async send(host) {
      const report = await host.made(OTHER);
      return host.send({ ...report, head: { ...report.head, complete: false } });
    },
  },
  {
    words: 'a signature that is none',
    code: 'report_signature',
    event: 'report_signature',
    send: async (host) => host.send({ ...(await host.made(OTHER)), signature: 'AAAA' }),
  },
  {
    words: 'a report of before',
    code: 'report_repeated',
    event: 'report_repeated',
    severity: 'medium',
    send: (host, before) => host.send(before),
  },
  {
    words: 'a nonce that was not given out',
    code: 'report_repeated',
    event: 'report_repeated',
    send: async (host) => host.send(await host.made(OTHER, { nonce: newChain(1).nonce })),
  },
  {
    words: 'another report in the place of the last',
    code: 'snapshot_restored',
    event: 'snapshot_restored',
    async send(host, before) {
      const next = { ...before.head, nonce: 'an old one' };
      return host.send(host.sensor.report(next, OTHER, host.at.now));
    },
  },
  {
    words: 'a sequence that is ahead',
    code: 'report_gap',
    event: 'report_gap',
    severity: 'high',
    send: async (host) => host.send(await host.made(OTHER, { sequence: 7 })),
  },
  {
    words: 'a report that goes on with another',
    code: 'report_fork',
    event: 'report_fork',
    severity: 'critical',
    send: async (host) => host.send(await host.made(OTHER, { previous_report_sha256: 'a'.repeat(64) })),
  },
  {
    words: 'a report of another endpoint',
    code: 'forbidden',
    event: null,
    async send(host) {
      const other = await host.at.enrolled();
      return host.body(partOf(await other.made(OTHER)));
    },
  },
  {
    words: 'lines of another root',
    code: 'root_differs',
    event: null,
    send: async (host) => host.send({ ...(await host.made(OTHER)), lines: LINES.slice(1) }),
  },
  {
    words: 'fewer lines than are signed for',
    code: 'root_differs',
    event: null,
    send: async (host) => host.send(await host.made(OTHER, { line_count: 3 })),
  },
  {
    words: 'lines that are not in order',
    code: 'invalid_request',
    event: null,
    send: async (host) => host.send({ ...(await host.made(OTHER)), lines: OTHER.toReversed() }),
  },
  {
    words: 'a path twice',
    code: 'invalid_request',
    event: null,
    send: async (host) => host.send({ ...(await host.made(OTHER)), lines: [...LINES, ...LINES.slice(1)] }),
  },
  {
    words: 'a path that is UTF-8 and told as bytes',
    code: 'invalid_request',
    event: null,
    async send(host) {
      const { path: _, ...line } = file('/x');
      const lines = [{ ...line, path_base64: Buffer.from('/x').toString('base64') } as never];
      return host.send({ ...(await host.made(OTHER)), lines });
    },
  },
  {
    words: 'a root without lines that nobody knows',
    code: 'lines_needed',
    event: null,
    send: async (host) => host.send({ ...(await host.made([file(`/usr/bin/${host.id}`)])), lines: [] }),
  },
  {
    words: 'a known root with another count',
    code: 'root_differs',
    event: null,
    send: async (host) => host.send({ ...(await host.made(LINES, { line_count: 9 })), lines: [] }),
  },
  {
    words: 'the second part first',
    code: 'part_out_of_order',
    event: null,
    send: async (host) => host.part(await host.made(files(2001)), 2),
  },
];

describe.each(DATABASES)('on %s', (_name, start) => {
  let at: EndpointPlace;
  let host: Reporter;
  beforeAll(async () => {
    at = await EndpointPlace.open(start);
  });
  afterAll(() => at.close());
  beforeEach(async () => {
    host = await at.enrolled();
  });

  test.each(ROWS)(
    '$words is refused, and nothing of it is kept but its event',
    async ({ code, event, severity, send }) => {
      const first = await host.made(LINES);
      await host.send(first);
      const second = await host.made(LINES);
      await host.send(second);
      // Makes the reports that the row builds on.
      await send(host, first).catch(() => {});
      const before = await rowsOf(at.database, at, host.id);
      const failed = await send(host, first).then(
        () => null,
        (error) => error,
      );
      expect(failed).toMatchObject({ name: 'DomainError', code });
      if (code !== 'forbidden') expect(await rowsOf(at.database, at, host.id)).toBe(before);
      const open = await host.open();
      expect(open.map(({ event_type }) => event_type)).toEqual(event === null ? [] : [event]);
      if (event !== null)
        expect(open).toMatchObject([{ occurrences: 2, path: null, ...(severity === undefined ? {} : { severity }) }]);
      // Reporting continues at the next number.
      expect(await host.reports(OTHER)).toMatchObject({ sequence: 3 });
    },
  );

  test('the last report sent again has the same answer, and nothing follows from it', async () => {
    const report = await host.made(LINES);
    const first = await host.send(report);
    const before = await rowsOf(at.database, at, host.id);
    expect(await host.send(report)).toEqual(first);
    expect(await rowsOf(at.database, at, host.id)).toBe(before);
    expect(await host.open()).toEqual([]);
  });

  test('parts come in order, each may come twice, and nothing is applied before all are there', async () => {
    const report = await host.made(files(5000));
    const refused = async (part: number, next: number) =>
      expect(await host.part(report, part).catch((error) => error)).toMatchObject({
        code: 'part_out_of_order',
        members: { next_part: next },
      });
    expect(await host.part(report, 1)).toEqual({ part: 1, next_part: 2, parts: 3 });
    expect(await host.part(report, 1)).toEqual({ part: 1, next_part: 2, parts: 3 });
    await refused(3, 2);
    expect(await host.part(report, 2)).toEqual({ part: 2, next_part: 3, parts: 3 });
    await refused(1, 3);
    expect((await at.service.hosts.find(host.id)).last_report).toBeNull();
    const altered = { ...partOf(report, 3), lines: [...partOf(report, 3).lines.slice(1)] };
    expect(await host.body(altered).catch((error) => error)).toMatchObject({ code: 'root_differs' });
    // Nothing of the refused report is stored.
    await refused(3, 1);
    expect(await host.send(report)).toMatchObject({ sequence: 1 });
    expect((await at.service.hosts.find(host.id)).last_report).toMatchObject({ line_count: 5000 });
    expect(await at.database.tables<Record<string, object>>().selectFrom('staged_parts').selectAll().execute()).toEqual(
      [],
    );
  });

  test('a newer scan, and a day, end one of which parts are missing', async () => {
    await host.part(await host.made(files(2001, 'x')), 1);
    const newer = await host.made(files(2001, 'y'));
    await host.part(newer, 1);
    expect(await host.part(newer, 2)).toMatchObject({ taken: { sequence: 1 } });
    await host.part(await host.made(files(2001, 'z')), 1);
    at.now += DAY + HOUR;
    await at.tidy();
    for (const table of ['staged_sets', 'staged_parts'])
      expect(await at.database.tables<Record<string, object>>().selectFrom(table).selectAll().execute()).toEqual([]);
  });

  test('a machine that was cloned: its twin goes back, the first goes on, and a person lets one begin anew', async () => {
    await host.reports(LINES);
    const common = await at.service.sensors.settings(host.id);
    await host.reports(LINES);
    const twin = host.sensor.report(common.next, OTHER, at.now, { boot_id: 'another boot' });
    await expect(host.send(twin)).rejects.toMatchObject({ code: 'snapshot_restored' });
    expect((await at.service.hosts.find(host.id)).message).toContain('went back');
    await host.reports(LINES);
    await host.reports(LINES);
    const open = await host.open();
    expect(open.map(({ event_type, severity, occurrences }) => [event_type, severity, occurrences]).sort()).toEqual([
      ['report_fork', 'critical', 2],
      ['snapshot_restored', 'high', 1],
    ]);
    const restarted = await at.service.hosts.restart(SOMEBODY, host.id, { reason: 'the twin was removed' });
    expect(restarted.chain).toEqual({ number: 2, public_key: null, went_back_at: null });
    expect(await host.open()).toEqual([]);
    await expect(host.reports(LINES)).rejects.toMatchObject({ code: 'no_key' });
    await at.bind(new SensorDouble(host.id));
    await expect(host.reports(LINES)).rejects.toMatchObject({ code: 'report_signature' });
    await at.service.hosts.restart(SOMEBODY, host.id, { reason: 'the wrong machine was faster' });
    await at.bind(host.sensor);
    expect(await host.reports(LINES)).toMatchObject({ sequence: 1 });
    const restarts = (await at.entries(host.id)).filter(({ action }) => action === 'endpoint.restarted');
    expect(restarts.map(({ metadata }) => metadata)).toMatchObject([
      { reason: 'the twin was removed', last_sequence: 4 },
      { reason: 'the wrong machine was faster', last_sequence: 0 },
    ]);
  });

  test('a machine restored from a snapshot is refused until somebody lets it begin anew', async () => {
    const old = await at.service.sensors.settings(host.id);
    for (let report = 0; report < 3; report++) await host.reports(LINES);
    for (const lines of [LINES, OTHER])
      await expect(host.send(host.sensor.report(old.next, lines, at.now))).rejects.toMatchObject({
        code: 'snapshot_restored',
      });
    expect(await host.open()).toMatchObject([{ event_type: 'snapshot_restored', occurrences: 2 }]);
    expect(await at.service.hosts.find(host.id)).toMatchObject({ last_report: { sequence: 3 } });
  });

  test('a key is bound once: another one is refused and an event, and a proof is needed', async () => {
    const { sensors } = at.service;
    const { next } = await sensors.settings(host.id);
    const thief = new SensorDouble(host.id);
    expect(await sensors.bindKey(host.id, host.sensor.proof(next))).toMatchObject({ bound: false });
    await expect(
      sensors.bindKey(host.id, { ...thief.proof(next), proof: host.sensor.proof(next).proof }),
    ).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await host.open()).toEqual([]);
    await expect(sensors.bindKey(host.id, thief.proof(next))).rejects.toMatchObject({ code: 'key_changed' });
    expect(await host.open()).toMatchObject([{ event_type: 'key_changed', severity: 'critical' }]);
    expect((await sensors.settings(host.id)).public_key).toBe(host.sensor.publicKey);
  });

  test.each([
    ['right', 0, []],
    ['two hours after', -2 * HOUR, ['low']],
    ['two hours ahead', 2 * HOUR, ['low']],
    ['two days after', -2 * DAY, ['high']],
    ['two days ahead', 2 * DAY, ['high']],
  ])(
    'a clock that is %s: the report is taken, and the event is resolved by a right one',
    async (_words, off, severities) => {
      const [started_at, finished_at] = [off, off].map((ms) => new Date(at.now + ms).toISOString());
      expect(await host.reports(LINES, { started_at, finished_at })).toMatchObject({ sequence: 1 });
      expect((await host.open()).map(({ event_type, severity }) => [event_type, severity])).toEqual(
        severities.map((severity) => ['clock_jump', severity]),
      );
      expect((await at.service.reports.list({ limit: 1 })).data).toMatchObject([
        { received_at: new Date(at.now).toISOString() },
      ]);
      await host.reports(LINES);
      expect(await host.open()).toEqual([]);
    },
  );

  test('a scan of three hours is no clock that jumps', async () => {
    const [started_at, finished_at] = [at.now - 3 * HOUR, at.now].map((ms) => new Date(ms).toISOString());
    await host.reports(LINES, { started_at, finished_at });
    expect(await host.open()).toEqual([]);
  });

  test('a report and its entry are both there or neither', async () => {
    await host.baseline(LINES);
    const report = await host.made(OTHER);
    const before = await rowsOf(at.database, at, host.id);
    at.fault = 'after';
    await expect(host.send(report)).rejects.toThrow('a fault');
    at.fault = null;
    expect(await rowsOf(at.database, at, host.id)).toBe(before);
    expect(await at.events({ endpoint_id: host.id })).toEqual([]);
    expect(await host.send(report)).toMatchObject({ events: { raised: 1 } });
  });

  test('sends of one report at once are one report', async () => {
    const report = await host.made(LINES);
    const answers = await Promise.all(Array.from({ length: 12 }, () => host.send(report)));
    expect(new Set(answers.map(({ report_sha256 }) => report_sha256)).size).toBe(1);
    expect((await at.entries(host.id)).filter(({ action }) => action === 'report.accepted')).toHaveLength(1);
    expect(await host.open()).toEqual([]);
  });

  test('a report sent before the answer to another went out goes on with it', async () => {
    const first = await host.made(LINES);
    await host.send(first);
    const { next } = await at.service.sensors.settings(host.id);
    expect(next).toEqual(nextAfter(first, next.nonce));
  });
});

import { zstdCompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { linesToBytes } from '../../../src/platform/endpoints/lines/line-sets.ts';
import type { EndpointTables } from '../../../src/platform/endpoints/tables.ts';
import { reportSha256 } from '../../../src/sensor/report/head.ts';
import { canonicalLine } from '../../../src/sensor/report/line.ts';
import { DATABASES } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { EndpointPlace, type Reporter } from './endpoint-place.ts';
import { file, SensorDouble, type SentReport } from './sensor-double.ts';

/** A change by an attacker with database access, and the expected findings. */
interface Edit {
  words: string;
  codes: readonly string[];
  change(host: Reporter, reports: readonly SentReport[]): Promise<unknown>;
}

const write = (host: Reporter, statement: (endpointNo: number) => ReturnType<typeof sql>) =>
  host.at.database.write(async (transaction) => {
    const tables = transaction.tables<EndpointTables>();
    const { endpoint_no } = await tables
      .selectFrom('endpoints')
      .select('endpoint_no')
      .where('endpoint_id', '=', host.id)
      .executeTakeFirstOrThrow();
    await statement(endpoint_no).execute(tables);
  });

/** Replaces the first report with a rewritten second report, signed with the sensor's key. */
async function forge(host: Reporter, reports: readonly SentReport[]): Promise<unknown> {
  const second = reports[1] as SentReport;
  const forged = host.sensor.signed({ ...second.head, complete: false }, second.lines);
  const { head, signature } = forged;
  const text = JSON.stringify(
    Object.fromEntries(Object.entries(head).sort(([one], [other]) => (one < other ? -1 : 1))),
  );
  return write(
    host,
    (no) =>
      sql`UPDATE endpoint_scans SET head = ${text}, signature = ${signature}, complete = 0, report_sha256 = ${reportSha256(head)} WHERE endpoint_no = ${no} AND sequence = 2`,
  );
}

const EDITS: readonly Edit[] = [
  {
    words: 'a clean scan that never was, signed by the real key',
    codes: ['report_differs', 'report_chain'],
    change: forge,
  },
  {
    words: 'the head of a report',
    codes: ['report_digest'],
    change: (host) =>
      write(
        host,
        (no) =>
          sql`UPDATE endpoint_scans SET head = REPLACE(head, 'a boot', 'b boot') WHERE endpoint_no = ${no} AND sequence = 2`,
      ),
  },
  {
    words: 'a head that is no JSON',
    codes: ['report_digest'],
    change: (host) =>
      write(host, (no) => sql`UPDATE endpoint_scans SET head = 'x' WHERE endpoint_no = ${no} AND sequence = 2`),
  },
  {
    words: 'a signature',
    codes: ['report_signature'],
    change: (host) =>
      write(host, (no) => sql`UPDATE endpoint_scans SET signature = 'AAAA' WHERE endpoint_no = ${no} AND sequence = 2`),
  },
  {
    words: 'a report that is gone',
    codes: ['report_chain', 'report_missing'],
    change: (host) => write(host, (no) => sql`DELETE FROM endpoint_scans WHERE endpoint_no = ${no} AND sequence = 2`),
  },
  {
    words: 'the last report that is gone',
    codes: ['report_missing', 'head_differs'],
    change: (host) => write(host, (no) => sql`DELETE FROM endpoint_scans WHERE endpoint_no = ${no} AND sequence = 3`),
  },
  {
    words: 'whether a scan was complete',
    codes: ['report_differs'],
    change: (host) =>
      write(host, (no) => sql`UPDATE endpoint_scans SET complete = 0 WHERE endpoint_no = ${no} AND sequence = 2`),
  },
  {
    words: 'lines of another scan',
    codes: ['root_differs'],
    change: (host) =>
      write(
        host,
        (no) =>
          sql`UPDATE endpoint_scans SET set_no = (SELECT set_no FROM endpoint_scans AS other WHERE other.endpoint_no = ${no} AND other.sequence = 1) WHERE endpoint_no = ${no} AND sequence = 2`,
      ),
  },
  {
    words: 'a line',
    codes: ['root_differs'],
    change: (host) => {
      const packed = zstdCompressSync(linesToBytes([canonicalLine(file(`/usr/bin/${host.id}`, 'clean'))]));
      const path = Buffer.from(`/usr/bin/${host.id}`);
      return write(
        host,
        () =>
          sql`UPDATE line_chunks SET lines = ${packed} WHERE last_path = ${path} AND chunk_no IN (SELECT chunk_no FROM line_set_chunks WHERE set_no = (SELECT MAX(set_no) FROM line_sets))`,
      );
    },
  },
  {
    words: 'lines that cannot be read',
    codes: ['root_differs'],
    change: (host) =>
      write(
        host,
        () =>
          sql`UPDATE line_chunks SET lines = ${Buffer.from('x')} WHERE chunk_no = (SELECT MAX(chunk_no) FROM line_chunks)`,
      ),
  },
];

describe.each(DATABASES)('on %s', (_name, start) => {
  let at: EndpointPlace;
  let host: Reporter;
  const reports: SentReport[] = [];
  beforeAll(async () => {
    at = await EndpointPlace.open(start);
  });
  afterAll(() => at.close());
  beforeEach(async () => {
    host = await at.enrolled();
    reports.length = 0;
    for (const content of ['a', 'b', 'c']) {
      const report = await host.made([file(`/usr/bin/${host.id}`, content)]);
      await host.send(report);
      reports.push(report);
    }
  });

  test('what nobody changed is verified, over several chains of reports', async () => {
    await at.service.hosts.restart(SOMEBODY, host.id, { reason: 'set up anew' });
    await at.bind(new SensorDouble(host.id));
    await at.service.hosts.restart(SOMEBODY, host.id, { reason: 'set up anew' });
    await at.bind(host.sensor);
    await host.reports([file(`/usr/bin/${host.id}`, 'c')]);
    expect(await at.service.verifying.verify(host.id)).toMatchObject({
      verified: true,
      findings: [],
      reports_checked: 4,
      roots_checked: 3,
    });
  });

  test.each(EDITS)('$words is found', async ({ codes, change }) => {
    await change(host, reports);
    const { verified, findings } = await at.service.verifying.verify(host.id);
    expect([verified, [...new Set(findings.map(({ code }) => code))].sort()]).toEqual([false, [...codes].sort()]);
    for (const { chain, sequence, message } of findings) {
      expect([chain, [2, 3].includes(sequence ?? 0)]).toEqual([1, true]);
      expect(message).not.toBe('');
    }
  });
});

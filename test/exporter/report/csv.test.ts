import { describe, expect, test } from 'vitest';
import { renderIndex } from '../../../src/exporter/report/csv.ts';
import { joined } from '../../support/pieces.ts';
import { monthStream, partialRun, refutedRun, verifiedRun } from '../../support/run-records.ts';

/** Parses RFC 4180 strictly: refuses a quote in an unquoted field, and a bare line feed outside quotes. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(text.slice(at));
    if (match === null) throw new Error(`no field at ${at}: ${text.slice(at, at + 40)}`);
    row.push((match[1] ?? match[2] ?? '').replaceAll('""', '"'));
    if (match[3] === '\r\n') {
      rows.push(row);
      row = [];
    }
    at += match[0].length;
  }
  return rows;
}

function records(record: Parameters<typeof renderIndex>[0]): Record<string, string>[] {
  const [head = [], ...rows] = readCsv(
    joined(renderIndex(record))
      .toString('utf8')
      .replace(/^\ufeff/, ''),
  );
  for (const row of rows) expect(row).toHaveLength(head.length);
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])));
}

describe('a name from outside', () => {
  test.each([
    ['=cmd|calc', "'=cmd|calc"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1+1', "'  =1+1"],
    ['\t=1+1', "'\t=1+1"],
    ['\r=1+1', "'\r=1+1"],
    ['\n=1+1', "'\n=1+1"],
    ['\u200b=1', "'\u200b=1"],
    ['＝1+1', "'＝1+1"],
    ['a,b', 'a,b'],
    ['a"b', 'a"b'],
    ['a\r\nb', 'a\r\nb'],
    ['"', '"'],
    ['a=b', 'a=b'],
    ['', ''],
    ['支付 🔐', '支付 🔐'],
  ])('%j stands as %j', (streamId, expected) => {
    expect(records(verifiedRun([monthStream(1, streamId)]))[0]?.['stream_id']).toBe(expected);
  });

  test('nor can a reason be a formula', () => {
    const record = verifiedRun([], {
      failed: [{ stream_id: 's', code: 'service', reason: '=HYPERLINK("x")', next_step: '' }],
    });
    expect(records(record)[0]?.['reason']).toBe('\'=HYPERLINK("x")');
  });
});

test.each([
  ['verified', verifiedRun([monthStream(1), monthStream(2)])],
  ['refuted', refutedRun()],
  ['partial', partialRun()],
])('the classes of a %s run add up to its reconciliation', (_what, record) => {
  const counts = Map.groupBy(records(record), (row) => row['class']);
  const { listed, supplements: _supplements, ...classes } = record.reconciliation;
  for (const [name, count] of Object.entries(classes))
    expect([name, counts.get(name)?.length ?? 0]).toEqual([name, count]);
  expect(Object.keys(classes).reduce((sum, name) => sum + (counts.get(name)?.length ?? 0), 0)).toBe(listed);
  expect(counts.get('vanished')?.length ?? 0).toBe(record.vanished.length);
});

test('a spreadsheet is told that it is UTF-8, by its first character', () => {
  expect(
    joined(renderIndex(verifiedRun([monthStream(1)])))
      .subarray(0, 9)
      .toString('utf8'),
  ).toBe('\ufeffrun_id');
});

test('beside a name that was made harmless stands what it is', () => {
  const [row] = records(verifiedRun([monthStream(1, '=1+1 "x"')]));
  expect([row?.['stream_id'], JSON.parse(row?.['stream_id_json'] ?? '')]).toEqual(['\'=1+1 "x"', '=1+1 "x"']);
});

test('a stream stands with all that identifies its evidence', () => {
  const stream = monthStream(7);
  expect(records(verifiedRun([stream]))[0]).toMatchObject({
    run_id: '2026-10',
    stream_id: 'prod/service-7',
    status: 'verified',
    entries: String(stream.entries),
    head_sequence: String(stream.head?.sequence),
    head_hash: stream.head?.hash,
    order: 'proved',
    bundle_key: stream.bundle.key,
    bundle_sha256: stream.bundle.sha256,
    bundle_identity: stream.bundle.identity,
    period_from: '2026-10-01T00:00:00.000Z',
    period_field: 'timestamp',
    first_recorded_at: stream.first_recorded_at,
    last_occurred_at: stream.last_occurred_at,
    stated_entries: '10',
    listed_entries: '10',
    missing_entries: '0',
    requested_at: stream.collected.requested_at,
    received_at: stream.collected.received_at,
    service_verified: 'true',
  });
});

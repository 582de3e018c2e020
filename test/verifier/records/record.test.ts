import { describe, expect, test } from 'vitest';
import {
  acceptanceKey,
  attemptPrefix,
  bundleKey,
  ledgerKey,
  runIdOf,
  runPrefix,
  runRecordKey,
  streamRecordKey,
} from '../../../src/verifier/records/keys.ts';
import { EXIT_CODE_OF, type Outcome, worstOf } from '../../../src/verifier/records/outcome.ts';
import { RUN_RECORD, STREAM_RECORD } from '../../../src/verifier/records/record.ts';
import { readRecord, toReadableBytes, toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { thrownBy } from '../../support/json.ts';
import { runRecord, runStream, streamRecord } from '../../support/records.ts';

test('what was written is read again, and written again it is the same bytes', () => {
  const record = runRecord('2026-10', [runStream('s'), runStream('ü "\u2028" \u{1f600}')]);
  const bytes = toRecordBytes(record);
  const read = readRecord(RUN_RECORD, bytes, 'runs/2026-10/run.json');
  expect(read).toEqual(record);
  expect(Buffer.from(toRecordBytes(read)).equals(bytes)).toBe(true);
  expect(Buffer.from(bytes).toString('utf8')).toMatch(/^\{\n {2}"format": "evidence-run\/7",\n.*\}\n$/s);
});

const KEY = 'runs/2026-10/streams/s.json';
const text = JSON.stringify(streamRecord('s'));
const WRONG: [string, string, RegExp][] = [
  ['nothing', '', /is not JSON/],
  ['cut off', text.slice(0, -1), /is not JSON/],
  ['a member twice', text.replace('{', '{"status":"verified",'), /is ambiguous.*twice/],
  ['invalid UTF-8', text.replace('"pkg-1"', '"\xff"'), /is ambiguous.*UTF-8/],
  ['an unknown member', text.replace('{', '{"more":1,'), /not the record.*more/s],
  ['a missing member', text.replace('"status":"verified",', ''), /not the record.*status/s],
  ['an unknown status', text.replace('"verified"', '"fine"'), /not the record.*status/s],
  ['a claim too few', text.replace('"seal":{"state":"proved"},', ''), /not the record.*claims\.seal/s],
  ['a digest in capitals', text.replaceAll('a'.repeat(64), 'A'.repeat(64)), /not the record.*sha256/s],
  ['a count below zero', text.replace('"entries":10', '"entries":-1'), /not the record.*entries/s],
  ['an array', '[]', /not the record/],
];

describe('a record that is wrong is unreadable, and the error names object and place', () => {
  test.each(WRONG)('%s', (_words, written, message) => {
    const error = thrownBy(() => readRecord(STREAM_RECORD, Buffer.from(written, 'latin1'), KEY));
    expect(error).toMatchObject({ code: 'unreadable', message: expect.stringMatching(message) });
    expect(error).toMatchObject({ message: expect.stringMatching(`^${KEY} `) });
  });
});

describe('a record that its own reader refuses is not written', () => {
  const record = { ...streamRecord('s'), binding: null };
  test.each<[string, object, RegExp]>([
    ['half of a surrogate pair', { ...record, package_id: 'pkg \ud83d' }, /lone surrogate/],
    ['a member too many', { ...record, more: 1 }, /more/],
    ['no time', { ...record, recorded_at: null }, /recorded_at/],
    ['a number that JSON cannot hold', { ...record, entries: Number.NaN }, /entries/],
    ['too many bytes', { ...record, package_id: 'x'.repeat(1000) }, /more than 900 bytes/],
  ])('%s', (_words, wrong, message) => {
    const format = { ...STREAM_RECORD, ...(message.source.includes('900') ? { maxBytes: 900 } : {}) };
    const error = thrownBy(() => toReadableBytes(format, wrong, KEY));
    expect(error).toMatchObject({ code: 'unreadable', message: expect.stringMatching(message) });
    expect(error).toMatchObject({ message: expect.stringMatching(`^${KEY} was not stored`) });
  });

  test('and one that it takes is written as it is', () => {
    expect(toReadableBytes(STREAM_RECORD, record, KEY)).toEqual(toRecordBytes(record));
  });
});

test('keys', () => {
  expect([
    runPrefix('r'),
    runRecordKey('r'),
    bundleKey('r', 's.zip'),
    streamRecordKey('r', 's'),
    attemptPrefix('r', new Date(Date.UTC(2026, 9, 1, 2, 3, 4, 5))),
    acceptanceKey('s', '2026-10-01T02:03:04.005Z'),
    ledgerKey(1),
    ledgerKey(12345678),
  ]).toEqual([
    'runs/r/',
    'runs/r/run.json',
    'runs/r/streams/s.zip',
    'runs/r/streams/s.json',
    'runs/r/attempts/2026-10-01T02-03-04.005Z/',
    'acceptances/s-2026-10-01T02-03-04.005Z.json',
    'ledger/00000001.json',
    'ledger/12345678.json',
  ]);
});

test.each([
  ['runs/2026-10/run.json', '2026-10'],
  ['runs/2026-10.r2/streams/a.zip', '2026-10.r2'],
  ['runs/', null],
  ['runs/x', null],
  ['ledger/00000001.json', null],
  ['x/runs/2026-10/run.json', null],
])('%s belongs to the run %s', (key, runId) => {
  expect(runIdOf(key)).toBe(runId);
});

const OUTCOMES: [Outcome[], Outcome, number][] = [
  [[], 'empty', 4],
  [['empty'], 'empty', 4],
  [['verified'], 'verified', 0],
  [['empty', 'verified'], 'verified', 0],
  [['verified', 'incomplete', 'empty'], 'incomplete', 3],
  [['empty', 'incomplete'], 'incomplete', 3],
  [['incomplete', 'refuted', 'verified'], 'refuted', 1],
];

test.each(OUTCOMES)('%j come to %s', (outcomes, worst, exitCode) => {
  expect(worstOf(outcomes)).toBe(worst);
  expect(EXIT_CODE_OF[worst]).toBe(exitCode);
});

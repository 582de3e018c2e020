import { expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { putBesideRun } from '../../../src/exporter/records/put-record.ts';
import { RESTAMPING, type Restamping, restampingKey } from '../../../src/verifier/records/hold-log.ts';
import { holdRecordKey, runRecordKey, stampKey } from '../../../src/verifier/records/keys.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { readStamps } from '../../../src/verifier/records/stamps.ts';
import { verifyRestamps } from '../../../src/verifier/verify/hold-log.ts';
import { expectedOf } from '../../conformance/archive.ts';

const RUN = 'r';
const [FIRST, SECOND] = [stampKey(RUN, 1), stampKey(RUN, 2)];

function record(token: string, more: Partial<Restamping> = {}): Restamping {
  return {
    format: 'evidence-restamp-record/7',
    run_id: RUN,
    ordered_by: { user: 'u', host: 'h' },
    ordered_at: '2026-11-01T00:00:00.000Z',
    timestamp_authority: 'https://tsa.example.com/',
    token: { key: SECOND, sha256: sha256(Buffer.from(token)) },
    ...more,
  };
}

/** Verifies a run with these tokens and records; a record with its own key is stored unchanged. */
async function verify(tokens: string[], records: (Restamping | [key: string, content: unknown])[]) {
  const archive = openMemoryArchive();
  const put = (key: string, content: Uint8Array) => archive.put(key, { bytes: content }, expectedOf(content));
  await put(runRecordKey(RUN), Buffer.from('{}'));
  for (const [index, token] of tokens.entries()) await put(stampKey(RUN, index + 1), Buffer.from(token));
  for (const one of records)
    if (Array.isArray(one)) await put(one[0], toRecordBytes(one[1]));
    else await putBesideRun(archive, restampingKey(one), RESTAMPING, one, new Date(one.ordered_at));
  const { stored } = await readStamps(archive, RUN);
  const { findings, warnings, restamps } = await verifyRestamps(archive, RUN, stored);
  return { findings: findings.map(({ code, key }) => [code, key]), warnings, restamps };
}

test('a token that was added is recorded by whom, and the one of the export need not be', async () => {
  const { findings, warnings, restamps } = await verify(['one', 'two'], [record('two')]);
  expect([findings, warnings]).toEqual([[], []]);
  expect(restamps).toEqual([
    expect.objectContaining({
      ordered_by: { user: 'u', host: 'h' },
      token: { key: SECOND, sha256: sha256(Buffer.from('two')) },
    }),
  ]);
  expect(await verify(['one'], [])).toEqual({ findings: [], warnings: [], restamps: [] });
});

const KEY = holdRecordKey(RUN, record('').ordered_at, 'restamp');
const later = { ordered_at: '2026-11-01T00:00:01.000Z' };
const OTHER_RUN = record('two', { run_id: 'other' });
test.each<[string, string[], Parameters<typeof verify>[1], string[][], RegExp[]]>([
  ['no record', ['one', 'two'], [], [['object/unexpected', SECOND]], []],
  ['a record of another token', ['one', 'two'], [record('2')], [['object/unexpected', SECOND]], [/was not stored/]],
  ['a token that is gone', ['one'], [record('two')], [], [/is missing: storing it was interrupted/]],
  ['the record of a second one that lost', ['one', 'two'], [record('two'), record('2', later)], [], [/was not stored/]],
  ['a record of another run', ['one', 'two'], [[KEY, OTHER_RUN]], [['record/differs', KEY]], []],
  ['a record at another time', ['one', 'two'], [[KEY, record('two', later)]], [['record/differs', KEY]], []],
  ['what is no record', ['one', 'two'], [[KEY, {}]], [['object/unreadable', runRecordKey(RUN)]], []],
  [
    'a first token that was added',
    ['one'],
    [record('one', { token: { key: FIRST, sha256: sha256(Buffer.from('one')) } })],
    [],
    [],
  ],
])('%s', async (_what, tokens, records, expected, said) => {
  const { findings, warnings } = await verify(tokens, records);
  expect([findings, warnings.length]).toEqual([expected, said.length]);
  for (const [index, words] of said.entries()) expect(warnings[index]).toMatch(words);
});

import { createSecretKey } from 'node:crypto';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { putReports } from '../../../src/exporter/export/finalize.ts';
import { readableStreamRecord } from '../../../src/exporter/export/records.ts';
import { freezeRun, readRunDraft, recordOf } from '../../../src/exporter/export/run-draft.ts';
import type { StoredRecord } from '../../../src/exporter/export/stream-jobs.ts';
import type { Question } from '../../../src/verifier/records/question.ts';
import type { RunRecord, RunStream } from '../../../src/verifier/records/record.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { streamRecord } from '../../support/records.ts';
import { verifiedRun } from '../../support/run-records.ts';

function stored(streamId: string): StoredRecord {
  const record = streamRecord(streamId);
  const bytes = toRecordBytes(record);
  return { record, key: `runs/2026-10/streams/${streamId}.json`, bytes: bytes.length, sha256: sha256(bytes) };
}

const RECORDED = [stored('a'), stored('b')];
const key = createSecretKey(Buffer.alloc(32));
const binding = { key, nonce: '0'.repeat(64), keyFor: async () => key };
const workDirectory = mkdtempSync(join(tmpdir(), 'draft-test-'));
const runtime = { workDirectory };

function runOf(recorded: readonly StoredRecord[], finished_at = '2026-11-01T00:01:00.000Z'): RunRecord {
  const streams = recorded.map(({ record, key, bytes, sha256: digest }): RunStream => {
    const { format: _format, run_id: _run, recorded_at: _at, ...stream } = record;
    return { ...stream, record: { key, bytes, sha256: digest } };
  });
  return verifiedRun(streams, { finished_at });
}

async function contents(archive: Archive): Promise<Map<string, string>> {
  const objects = new Map<string, string>();
  for await (const { key } of archive.list('')) objects.set(key, sha256(await archive.readBytes(key, 2 ** 30)));
  return objects;
}

test('a run that was closed goes on from what was written down, and its reports come out the same', async () => {
  const [archive, interrupted] = [openMemoryArchive(), openMemoryArchive()];
  const closed = await freezeRun({ archive, binding, runtime }, runOf(RECORDED));
  const documents = await putReports({ archive, runtime }, recordOf(closed, RECORDED));
  expect(documents.map(({ name }) => name)).toEqual([
    'report.pdf',
    'index.csv',
    'assessment-results.json',
    'report.html',
  ]);
  await freezeRun({ archive: interrupted, binding, runtime }, runOf(RECORDED));
  // A later attempt has another time, and finds a stream that is not part of this run.
  const later = await freezeRun(
    { archive: interrupted, binding, runtime },
    runOf(RECORDED, '2026-11-02T12:00:00.000Z'),
  );
  expect(later.draft.finished_at).toBe('2026-11-01T00:01:00.000Z');
  await putReports({ archive: interrupted, runtime }, recordOf(later, [...RECORDED, stored('c')]));
  expect(await contents(interrupted)).toEqual(await contents(archive));
  expect(await contents(interrupted)).toHaveProperty('size', 5);
  expect(readdirSync(workDirectory)).toEqual([]);
});

test('the record of a closed run is the one it was closed with', async () => {
  const archive = openMemoryArchive();
  expect(await readRunDraft({ archive, binding, runtime }, '2026-10')).toBeNull();
  await freezeRun({ archive, binding, runtime }, runOf(RECORDED));
  const read = await readRunDraft({ archive, binding, runtime }, '2026-10');
  expect(read === null ? null : recordOf(read, RECORDED)).toEqual(runOf(RECORDED));
});

test('a stream record that is gone or another one since is not taken for it', async () => {
  const closed = await freezeRun({ archive: openMemoryArchive(), binding, runtime }, runOf(RECORDED));
  const [a, b] = RECORDED as [StoredRecord, StoredRecord];
  expect(() => recordOf(closed, [a])).toThrow(/b\.json .* is not the record that the run draft fixed/);
  expect(() => recordOf(closed, [a, { ...b, sha256: a.sha256 }])).toThrow(/b\.json/);
});

test('a run whose record would be too large to be read again stays open, and says how it is given up', async () => {
  const archive = openMemoryArchive();
  const reason = 'x'.repeat(2 ** 20);
  const large = Array.from({ length: 10 }, (_, at) => {
    const one = stored(`s${at}`);
    return { ...one, record: { ...one.record, missing: [{ form: 'pdf', code: 'service' as const, reason }] } };
  });
  await expect(freezeRun({ archive, binding, runtime }, runOf(large), 10 * 2 ** 20)).rejects.toMatchObject({
    code: 'service',
    nextStep: expect.stringContaining('evidence runs abandon'),
  });
  expect((await contents(archive)).size).toBe(0);
});

test('the record of a stream may take a part of that of its run', () => {
  const record = streamRecord('a');
  const question = { run_id: record.run_id } as Question;
  expect(readableStreamRecord({ question, binding }, record).length).toBeLessThan(10_000);
  const missing = [{ form: 'pdf', code: 'service' as const, reason: 'x'.repeat(8 * 2 ** 20) }];
  expect(() => readableStreamRecord({ question, binding }, { ...record, missing })).toThrow(/was not stored/);
});

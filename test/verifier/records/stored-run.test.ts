import { expect, test } from 'vitest';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { readFinalizedRun, readRunRecord } from '../../../src/verifier/records/stored-run.ts';
import { runRecord } from '../../support/records.ts';

const KEY = 'runs/R/run.json';

test('a run record is read with the digest of its bytes, whose memory is given back', async () => {
  const bytes = new Uint8Array(toRecordBytes(runRecord('R', [])));
  const { record } = await readRunRecord({ readBytes: async () => bytes }, KEY);
  expect(record.run_id).toBe('R');
  expect(bytes).toHaveLength(0);
});

test('bytes that share their memory with others are left as they are', async () => {
  const record = toRecordBytes(runRecord('R', []));
  const shared = new Uint8Array(record.length + 10);
  shared.set(record, 5);
  await readRunRecord({ readBytes: async () => shared.subarray(5, -5) }, KEY);
  expect(shared).toHaveLength(record.length + 10);
});

test('a run without its record is not finalized', async () => {
  expect(await readFinalizedRun(openMemoryArchive(), 'R')).toBeNull();
});

import { expect, test } from 'vitest';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { readEarlierRuns, toEarlierRun } from '../../../src/verifier/ledger/earlier-runs.ts';
import { readPast } from '../../../src/verifier/ledger/past.ts';
import { runRecordKey } from '../../../src/verifier/records/keys.ts';
import { RUN_RECORD, type RunRecord } from '../../../src/verifier/records/record.ts';
import { readRecord } from '../../../src/verifier/records/record-bytes.ts';
import { verifyArchive } from '../../../src/verifier/verify/archive.ts';
import { finalizeRun, tampered } from '../../support/signed-archive.ts';

const UNKNOWN = 'the runs before this one could not be read, so their coverage is not shown: ';

async function recordOf(archive: Archive, runId: string): Promise<RunRecord> {
  const key = runRecordKey(runId);
  return readRecord(RUN_RECORD, await archive.readBytes(key, 1e6), key);
}

async function earlierRunsOf(archive: Archive) {
  return readEarlierRuns(archive, await readPast(archive));
}

/** Finalizes three months, each with its record of the earlier ones. */
async function threeMonths(): Promise<Archive> {
  const archive = openMemoryArchive();
  for (const runId of ['2026-08', '2026-09', '2026-10']) {
    const { runs, warning } = await earlierRunsOf(archive);
    expect(warning).toBeNull();
    await finalizeRun(archive, runId, null, { earlier_runs: runs });
  }
  return archive;
}

/** Rewrites the first run and its ledger entry. Without signatures, everything stays consistent. */
async function rewritten(archive: Archive): Promise<Archive> {
  const [forged, later] = [openMemoryArchive(), ['2026-09', '2026-10']];
  await finalizeRun(forged, '2026-08', null, { finished_at: '2026-11-01T00:02:00.000Z' });
  for (const runId of later) await finalizeRun(forged, runId, null, await recordOf(archive, runId));
  return forged;
}

async function verify(archive: Archive) {
  const trust = { sealKeys: new Map(), roots: null, stampRoots: null, publicKeys: [] };
  const report = await verifyArchive({ archive, contract: null, ...trust, now: new Date(), workDirectory: '' });
  return { ...report, named: report.objects.altered.map(({ code, key, message }) => [code, key, message]) };
}

test('the next run names all that were finalized before it', async () => {
  const archive = await threeMonths();
  const { runs } = await earlierRunsOf(archive);
  expect(runs.map(({ run_id }) => run_id)).toEqual(['2026-08', '2026-09', '2026-10']);
  expect(runs[0]).toEqual(toEarlierRun(await recordOf(archive, '2026-08')));
  expect((await verify(archive)).named).toEqual([]);
});

test('a run that was rewritten with its ledger is found by what the later ones say of it', async () => {
  const { ledger, outcome, named } = await verify(await rewritten(await threeMonths()));
  const says = 'contradicts the record of run 2026-08';
  const found = ['2026-09', '2026-10'].map((runId) => ['record/differs', runRecordKey(runId), says]);
  expect([outcome, named, ledger.findings.length]).toEqual(['refuted', found, found.length]);
});

test.each([
  ['altered', (bytes: Buffer) => `${bytes} `, 'runs/2026-10/run.json is not the record that the ledger names'],
  ['gone', null, 'runs/2026-10/run.json'],
])('of a newest record that is %s the next run takes nothing, and says so', async (_what, change, words) => {
  const archive = await tampered(await threeMonths(), { [runRecordKey('2026-10')]: change });
  const { runs, warning } = await earlierRunsOf(archive);
  expect(runs).toEqual([]);
  expect(warning?.message.startsWith(UNKNOWN) && warning.message.includes(words)).toBe(true);
});

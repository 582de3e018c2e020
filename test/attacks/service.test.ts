import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../src/exporter/archive/archive.ts';
import { openMemoryArchive } from '../../src/exporter/archive/memory.ts';
import { keepService, readArchiveService, requireService } from '../../src/exporter/ledger/service.ts';
import { readNewestEntry } from '../../src/verifier/ledger/ledger.ts';
import { archiveBytes } from '../../src/verifier/ledger/service.ts';
import { runRecordKey } from '../../src/verifier/records/keys.ts';
import type { RunRecord } from '../../src/verifier/records/record.ts';
import { chainOf } from '../support/chain.ts';
import { startFalseService } from '../support/false-service.ts';
import { runRecord } from '../support/records.ts';
import { finalizeRun, newKey, problemsIn, tampered, verifyUnder } from '../support/signed-archive.ts';

const KEY = newKey();
const { source } = runRecord('', []);
const OURS = source.audit_url;
const THEIRS = 'https://other.example.com/audit';
const MOVED = 'https://moved.example.com/audit';

const from = (audit_url: string, moved_from: string | null = null): Partial<RunRecord> => ({
  source: { ...source, audit_url, moved_from },
});
const textOf = (auditUrl: string) => Buffer.from(archiveBytes(auditUrl)).toString();

let archive: Archive;
beforeEach(() => {
  archive = openMemoryArchive();
});

describe('verify names the service of an archive', () => {
  test('and where it moved, with which run', async () => {
    await finalizeRun(archive, 'run-1', KEY);
    await finalizeRun(archive, 'run-2', KEY, from(MOVED, OURS));
    await finalizeRun(archive, 'run-3', KEY, from(MOVED));
    // An export from the old address was under way.
    await finalizeRun(archive, 'run-4', KEY, from(OURS));
    const report = await verifyUnder(archive, [KEY]);
    expect(problemsIn(report)).toEqual([]);
    expect(report.service).toEqual({ audit_url: MOVED, moved: [{ run_id: 'run-2', from: OURS, to: MOVED }] });
  });

  test('a run of another service does not belong into it, though whoever signs put it there', async () => {
    await finalizeRun(archive, 'run-1', KEY);
    await finalizeRun(archive, 'run-2', KEY, from(THEIRS));
    const report = await verifyUnder(archive, [KEY]);
    expect([report.outcome, problemsIn(report)]).toEqual(['refuted', ['record/differs runs/run-2/run.json']]);
  });

  test.each<[what: string, change: string | null, findings: string[]]>([
    ['is gone', null, ['object/missing archive.json']],
    ['names another service', textOf(THEIRS), ['object/altered archive.json']],
    ['is written otherwise', textOf(OURS).replace('\n}', '}'), ['object/altered archive.json']],
    ['is no record', '[]', ['object/unreadable archive.json']],
  ])('what says so %s', async (_what, change, findings) => {
    await finalizeRun(archive, 'run-1', KEY);
    const changed = await tampered(archive, { 'archive.json': change === null ? null : () => change });
    const report = await verifyUnder(changed, [KEY]);
    expect([report.outcome, problemsIn(report)]).toEqual(['refuted', findings]);
  });

  test.each([
    ['another', THEIRS],
    ['none', null],
  ])('the ledger is made to name %s, which its signature does not hold', async (_what, url) => {
    await finalizeRun(archive, 'run-1', KEY);
    const name = (bytes: Buffer) =>
      bytes.toString().replace(`"audit_url": "${OURS}"`, `"audit_url": ${JSON.stringify(url)}`);
    const report = await verifyUnder(await tampered(archive, { 'ledger/00000001.json': name }), [KEY]);
    expect(report.outcome).toBe('refuted');
    expect(problemsIn(report)).toContain('signature/mismatch ledger/00000001.json');
  });

  test('a run that is moved into the archive of another service', async () => {
    const other = openMemoryArchive();
    await finalizeRun(other, 'run-1', KEY, from(THEIRS));
    await finalizeRun(archive, 'run-1', KEY);
    const theirs = Buffer.from(await other.readBytes(runRecordKey('run-1'), 1e6)).toString();
    const report = await verifyUnder(await tampered(archive, { [runRecordKey('run-1')]: () => theirs }), []);
    expect(report.outcome).toBe('refuted');
  });
});

describe('an export', () => {
  const ask = async (auditUrl: string, isMoved = false) => {
    const newest = await readNewestEntry(archive);
    return requireService(await readArchiveService(archive, newest), newest, { auditUrl, isMoved });
  };

  test('into a new archive is of any service, and moves none', async () => {
    expect(await ask(OURS)).toBeNull();
    await expect(ask(OURS, true)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/is still empty/),
    });
  });

  test('into one that was begun is of its service; nothing moves before a run is finalized', async () => {
    await keepService(archive, OURS, null);
    await keepService(archive, OURS, null);
    expect(await ask(OURS)).toBeNull();
    for (const isMoved of [false, true])
      await expect(ask(THEIRS, isMoved)).rejects.toMatchObject({
        code: 'config',
        message: `this archive belongs to ${OURS}, not ${THEIRS}; an archive contains one service`,
        nextStep: 'Nothing was written. Name another archive with --archive.',
      });
    // Both exports found an empty archive, and the other one was faster.
    await expect(keepService(archive, THEIRS, null)).rejects.toMatchObject({ code: 'config' });
  });

  test('of a service that moved says so once, and the old address is another service from then on', async () => {
    await finalizeRun(archive, 'run-1', KEY);
    await expect(ask(MOVED)).rejects.toMatchObject({ nextStep: expect.stringMatching(/add --service-moved once/) });
    expect(await ask(MOVED, true)).toBe(OURS);
    await finalizeRun(archive, 'run-2', KEY, from(MOVED, OURS));
    expect(await ask(MOVED)).toBeNull();
    await expect(ask(MOVED, true)).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(/already/) });
    await expect(ask(OURS)).rejects.toMatchObject({ code: 'config' });
  });

  test('into an archive that does not say its service any more is refused', async () => {
    await finalizeRun(archive, 'run-1', KEY);
    archive = await tampered(archive, { 'archive.json': null });
    await expect(ask(OURS)).rejects.toMatchObject({ code: 'unreadable', message: expect.stringMatching(/is missing/) });
  });
});

test('a run that goes on where archive.json is gone writes it again', async () => {
  const service = await startFalseService();
  try {
    const entries = chainOf(3, { stream_id: 's' });
    service.streams.set('s', { entries, refused: 500 });
    expect((await service.export({ period: '2026-10' })).code).toBe(3);
    rmSync(join(service.directory, 'evidence-archive/archive.json'));
    service.streams.set('s', { entries });
    expect((await service.export({ period: '2026-10' })).code).toBe(0);
    expect((await service.verify()).code).toBe(0);
  } finally {
    await service.close();
  }
});

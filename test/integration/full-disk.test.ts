import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { FullDisk } from '../support/full-disk.ts';
import { EVIDENCE, nodeToEnd } from '../support/process.ts';
import { type Fault, type FaultyService, type Step, startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_of_a_full_disk_0123';
const RUN = 'FULL';
const EXPORT = ['export', '--all-time', '--request', RUN];
const FULL_AFTER = resolve(import.meta.dirname, '../support/full-after.ts');

interface Place {
  cwd: string;
  env: Record<string, string>;
  disk: FullDisk;
  /** Folder of the archive. */
  archive: string;
}

/** @param isArchive true to fill the archive's disk, false to fill that of the work directory. */
async function placeOn(service: FaultyService, isArchive: boolean): Promise<Place> {
  const disk = await FullDisk.mount(32);
  onTestFinished(() => disk.unmount());
  const cwd = mkdtempSync(join(tmpdir(), 'full-disk-'));
  const env = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
  expect((await evidence(['keygen', '--out', 'signing.pem'], { cwd, env })).code).toBe(0);
  const archive = isArchive ? join(disk.path, 'archive') : join(cwd, 'archive');
  const workDirectory = isArchive ? cwd : disk.path;
  const config = { archive: { url: archive }, work_directory: workDirectory, sign: { key_file: 'signing.pem' } };
  writeFileSync(join(cwd, 'evidence.yaml'), JSON.stringify({ ...config, source: { rate: { concurrency: 1 } } }));
  return { cwd, env, disk, archive };
}

async function serve(fault: Fault): Promise<FaultyService> {
  const streams = new Map([
    ['first', 400],
    ['second', 400],
  ]);
  const service = await startFaultyService({ apiKey: KEY, streams, fault });
  onTestFinished(() => service.close());
  return service;
}

/** Expects the same command to finish the run, with each stream once, and everything to verify. */
async function expectToEndWell({ cwd, env, disk, archive }: Place): Promise<void> {
  disk.free();
  const again = await evidence(EXPORT, { cwd, env });
  expect(again.code, again.stderr).toBe(0);
  const { streams } = JSON.parse(readFileSync(join(archive, 'runs', RUN, 'run.json'), 'utf8'));
  expect(streams.map(({ stream_id }: { stream_id: string }) => stream_id)).toEqual(['first', 'second']);
  const verified = await evidence(['verify', archive, '--public-key', 'signing.pem.pub'], { cwd, env });
  expect(verified.code, verified.stdout).toBe(0);
}

describe('a work directory that becomes full', () => {
  test.each<Step>(['streams', 'generate', 'json', 'pdf', 'summary', 'entries'])(
    'before the answer of %s',
    async (step) => {
      let disk: FullDisk | null = null;
      const service = await serve((occasion) => {
        if (occasion.step === step && (occasion.streamId ?? 'second') === 'second') disk?.fill();
        return undefined;
      });
      const here = await placeOn(service, false);
      disk = here.disk;
      const { code, stderr } = await evidence(EXPORT, here);
      disk = null;
      expect(code, stderr).toBe(3);
      expect(stderr).toMatch(/(the work directory|cannot write the bundle) .*ENOSPC/);
      expect(stderr).toContain(here.disk.path);
      expect(stderr).toMatch(/Archived bundles are kept\. .*run the same command again\./s);
      expect(existsSync(join(here.archive, 'runs', RUN, 'run.json'))).toBe(false);
      await expectToEndWell(here);
    },
  );
});

describe('an archive whose disk becomes full', () => {
  test.each([
    ['what is asked for', 'asked\\.json', false],
    ['the bundle of a stream', 'first-[0-9a-f]{8}\\.zip', false],
    ['the record of a stream', 'first-[0-9a-f]{8}\\.json', false],
    ['the last record of a stream', 'second-[0-9a-f]{8}\\.json', false],
    ['the draft of the run', 'run-draft\\.json', false],
    ['a report', 'report\\.pdf', false],
    ['the last report', 'report\\.html', false],
    ['the record of the run', 'run\\.json', true],
    ['its signature', 'run\\.dsse\\.json', true],
  ])('after %s', async (_what, pattern, isFinalized) => {
    const here = await placeOn(await serve(() => undefined), true);
    const { code, stderr } = await nodeToEnd(EVIDENCE, EXPORT, {
      cwd: here.cwd,
      env: { ...here.env, FULL_AFTER: pattern, FULL_DISK: here.disk.path },
      nodeFlags: ['--import', FULL_AFTER],
    });
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('ENOSPC');
    expect(stderr).toContain(here.archive);
    expect(stderr).toMatch(/Free space/);
    expect(existsSync(join(here.archive, 'runs', RUN, 'run.json'))).toBe(isFinalized);
    await expectToEndWell(here);
  });
});

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectRetentionCommand, PutObjectLegalHoldCommand, PutObjectRetentionCommand } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { deleteVersion, versionsIn } from '../support/bucket.ts';
import { evidence } from '../support/evidence.ts';
import { newPlace, serveS3 } from '../support/s3-place.ts';

const setting = serveS3({ payments: 5 });

const YEAR = new Date().getUTCFullYear();

test('a run is held, kept for longer and released; deletion, runs and verify know it each time', async () => {
  const retention = { mode: 'governance', years: 1, max_years: 10 };
  const { client } = setting;
  const { bucket, directory, archive, evidence: program } = await newPlace(setting, 'lock', { retention });
  const json = async (...args: string[]) => JSON.parse((await program(...args, '--json')).stdout);
  const runLine = async () => (await json('runs')).runs[0];
  const verify = () => json('verify', archive.url);
  const bundleVersion = async () => {
    const found = (await versionsIn(client, bucket)).find(({ Key }) => Key?.endsWith('.zip'));
    if (found === undefined) throw new Error('there is no bundle');
    return found;
  };

  expect((await program('export', '--request', 'AUD-1', '--all-time')).code).toBe(0);
  expect(await runLine()).toMatchObject({
    run_id: 'AUD-1',
    state: 'finalized',
    outcome: 'verified',
    streams: 1,
    signed: false,
    legal_hold: false,
    lock: { mode: 'governance', retain_until: expect.stringMatching(`^${YEAR + 1}-`) },
  });

  expect((await program('hold', 'AUD-1', '--reason', 'case 26-114')).code).toBe(0);
  expect((await runLine()).legal_hold).toBe(true);
  // Permission to bypass governance does not bypass a hold.
  expect(await deleteVersion(client, bucket, await bundleVersion())).toBe(403);
  const held = await verify();
  expect([held.exit_code, held.locks.state]).toEqual([0, 'proved']);
  expect(held.runs[0].hold_log).toEqual([expect.objectContaining({ action: 'hold', reason: 'case 26-114' })]);

  const { Key, VersionId } = await bundleVersion();
  const lifted = { Bucket: bucket, Key, VersionId, LegalHold: { Status: 'OFF' as const } };
  await client.send(new PutObjectLegalHoldCommand(lifted));
  const secretly = await verify();
  expect([secretly.exit_code, secretly.objects.unlocked]).toEqual([
    1,
    [expect.objectContaining({ code: 'object/unlocked', message: expect.stringContaining('legal hold') })],
  ]);
  await client.send(new PutObjectLegalHoldCommand({ ...lifted, LegalHold: { Status: 'ON' } }));

  const extend = (...how: string[]) => program('extend', 'AUD-1', ...how, '--reason', 'policy of 2027');
  expect((await extend('--years', '11')).stderr).toContain('archive.retention.max_years');
  expect((await extend('--until', `${YEAR}-12-31`)).code).toBe(2);
  // Retention that was raised after the run.
  const raised = { archive: { ...archive, retention: { ...retention, years: 4 } } };
  writeFileSync(join(directory, 'raised.yaml'), JSON.stringify(raised));
  expect((await extend('--years', '3', '--config', 'raised.yaml')).stderr).toContain('earlier than the 4 years');
  // One object has a longer lock than the others.
  const longer = new Date(Date.UTC(YEAR + 8, 0, 1));
  const Retention = { Mode: 'GOVERNANCE' as const, RetainUntilDate: longer };
  await client.send(new PutObjectRetentionCommand({ Bucket: bucket, Key, VersionId, Retention }));
  expect((await extend('--years', '5')).code).toBe(0);
  const kept = await client.send(new GetObjectRetentionCommand({ Bucket: bucket, Key, VersionId }));
  expect(kept.Retention?.RetainUntilDate).toEqual(longer);
  expect((await runLine()).lock.retain_until).toMatch(`${YEAR + 5}-`);
  expect((await extend('--years', '4')).stderr).toContain('never shortened');

  expect((await program('release', 'AUD-1', '--reason', 'closed')).code).toBe(0);
  const released = await verify();
  expect([released.exit_code, released.locks.state, (await runLine()).legal_hold]).toEqual([0, 'proved', false]);
  expect(released.runs[0].hold_log.map(({ action }: { action: string }) => action)).toEqual([
    'hold',
    'extend',
    'release',
  ]);
  expect((await program('verify', archive.url)).stdout).toContain('hold, by ');
});

test('what cannot be undone is said before, and two holds are taken away only if both are meant', async () => {
  const { evidence: program, archive } = await newPlace(setting, 'lock', {
    retention: { mode: 'compliance', years: 1 },
  });
  const change = async (...args: string[]) => {
    const { code, stdout, stderr } = await program(...args);
    const holds = JSON.parse((await program('runs', '--json')).stdout).runs[0].legal_hold;
    return { code, holds, said: stdout + stderr };
  };
  expect((await program('export', '--request', 'AUD-1', '--all-time')).code).toBe(0);
  const extended = await change('extend', 'AUD-1', '--years', '2', '--reason', 'r', '--dry-run');
  expect(extended).toMatchObject({ code: 0, said: expect.stringMatching(/In compliance mode, NOBODY can undo this/) });
  expect(await change('hold', 'AUD-1', '--reason', 'case 26-114', '--dry-run')).toMatchObject({
    code: 0,
    holds: false,
  });
  for (const reason of ['case 26-114', 'case 26-115'])
    expect(await change('hold', 'AUD-1', '--reason', reason)).toMatchObject({ code: 0, holds: true });
  const release = ['release', 'AUD-1', '--reason', 'closed'];
  const refused = await change(...release);
  expect(refused).toMatchObject({
    code: 2,
    holds: true,
    said: expect.stringMatching(/case 26-114; .*case 26-115.*--all/s),
  });
  const foreseen = await change(...release, '--all', '--dry-run');
  expect(foreseen).toMatchObject({
    code: 0,
    holds: true,
    said: expect.stringMatching(/lifted: .*26-114.*26-115/s),
  });
  const released = await change(...release, '--all');
  expect(released).toMatchObject({ code: 0, holds: false, said: expect.stringMatching(/Lifted: .*26-114/) });
  expect((await change('hold', 'AUD-1', '--reason', 'case 26-116')).code).toBe(0);
  expect((await change('release', 'AUD-1', '--reason', 'closed too')).code).toBe(0);
  const { runs, exit_code } = JSON.parse((await program('verify', archive.url, '--json')).stdout);
  expect([exit_code, runs[0].hold_log.length]).toEqual([0, 5]);
  expect((await program('share', 'AUD-1')).stderr).toMatch(/no recipient is named\n.*--for/);
});

test('what is added by somebody whose configuration has no retention is locked as the run is', async () => {
  const place = await newPlace(setting, 'lock', { retention: { mode: 'compliance', years: 1 } });
  expect((await place.evidence('export', '--request', 'AUD-1', '--all-time')).code).toBe(0);
  const { retention: _retention, ...archive } = place.archive;
  writeFileSync(join(place.directory, 'admin.yaml'), JSON.stringify({ archive }));
  const asAdmin = (...args: string[]) => place.evidence(...args, '--config', 'admin.yaml');
  expect((await asAdmin('hold', 'AUD-1', '--reason', 'case 26-114')).code).toBe(0);
  expect((await asAdmin('release', 'AUD-1', '--reason', 'closed')).code).toBe(0);
  expect((await asAdmin('share', 'AUD-1', '--for', 'A. Uditor')).code).toBe(0);
  const { objects, locks, exit_code } = JSON.parse((await place.evidence('verify', archive.url, '--json')).stdout);
  expect([exit_code, locks.state, objects.unlocked]).toEqual([0, 'proved', []]);
});

test('runs shows what is open, and an archive in a folder has neither locks nor holds', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'runs-'));
  const program = (...args: string[]) => evidence(args, { cwd: directory, env: setting.platform.env });
  expect((await program('runs')).code).toBe(2);
  expect((await program('export', '--request', 'AUD-1', '--all-time')).code).toBe(0);
  const { stdout } = await program('runs');
  expect(stdout).toMatch(/^AUD-1 +all time until \S+ +verified +1 of 1 +[\d.]+ KiB +not locked +– +unsigned$/m);
  const held = await program('hold', 'AUD-1', '--reason', 'r');
  expect([held.code, held.stderr]).toEqual([2, expect.stringContaining('Object Lock')]);
  for (const run of ['AUD-2', '../AUD-1', 'AUD-1/streams'])
    expect((await program('hold', run, '--reason', 'r')).stderr).toContain('evidence runs');
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand, PutObjectRetentionCommand } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { contentOf, deleteVersion, versionsIn } from '../support/bucket.ts';
import { newPlace, serveS3 } from '../support/s3-place.ts';
import { s3cmd } from '../support/s3cmd.ts';

const setting = serveS3({ payments: 12, access: 12, deploys: 12 });

/** Returns a finalized run in a separate bucket, with the names of its objects. */
async function exported(mode: 'governance' | 'compliance') {
  const { bucket, directory, archive, evidence } = await newPlace(setting, 'lock', { retention: { mode, years: 2 } });
  const { code, stdout, stderr } = await evidence('export', '--request', 'AUD-1', '--all-time', '--json');
  expect(code, stderr).toBe(0);
  const bundles = new Map<string, string>(
    JSON.parse(stdout).streams.map((stream: { stream_id: string; bundle: { key: string } }) => [
      stream.stream_id,
      stream.bundle.key,
    ]),
  );
  const bundleOf = (stream: string) => bundles.get(stream) ?? '';
  const verify = async (...flags: string[]) => {
    const verified = await evidence('verify', archive.url, '--json', ...flags);
    return { ...verified, report: JSON.parse(verified.stdout) };
  };
  return { bucket, directory, bundleOf, verify, words: async () => (await evidence('verify', archive.url)).stdout };
}

async function versionOf(bucket: string, key: string) {
  const version = (await versionsIn(setting.client, bucket)).find(({ Key }) => Key === `prod/${key}`);
  if (version === undefined) throw new Error(`there is no ${key}`);
  return version;
}

test('what other clients did to an archive is found and named, each thing', async () => {
  const { bucket, directory, bundleOf, verify, words } = await exported('governance');
  expect((await verify()).code).toBe(0);
  const other = s3cmd(setting.gateway, directory);
  const file = join(directory, 'other.txt');
  writeFileSync(file, 'something else');
  const [access, deploys, payments] = ['access', 'deploys', 'payments'].map(bundleOf) as [string, string, string];
  const record = (bundle: string) => bundle.replace(/\.zip$/, '.json');
  // A new version over an object, a delete marker over another, an extra object, and a key that no archive uses.
  await other('put', file, `s3://${bucket}/prod/${access}`);
  await other('del', `s3://${bucket}/prod/${deploys}`);
  await other('put', file, `s3://${bucket}/prod/runs/AUD-1/extra.txt`);
  await other('put', file, `s3://${bucket}/prod/runs/.hidden/run.json`);
  // Changes that bypass governance: a shortened lock, a deleted object, and a replaced object.
  const shortened = await versionOf(bucket, payments);
  await setting.client.send(
    new PutObjectRetentionCommand({
      Bucket: bucket,
      Key: shortened.Key,
      VersionId: shortened.VersionId,
      BypassGovernanceRetention: true,
      Retention: { Mode: 'GOVERNANCE', RetainUntilDate: new Date(Date.now() + 86_400_000) },
    }),
  );
  expect(await deleteVersion(setting.client, bucket, await versionOf(bucket, record(access)))).toBe(204);
  const replaced = await versionOf(bucket, record(deploys));
  const same = await contentOf(setting.client, bucket, replaced);
  expect(await deleteVersion(setting.client, bucket, replaced)).toBe(204);
  await setting.client.send(new PutObjectCommand({ Bucket: bucket, Key: replaced.Key, Body: same }));

  const { code, report } = await verify();
  const named = (findings: { code: string; key: string }[]) => findings.map((finding) => [finding.code, finding.key]);
  expect([code, report.outcome, report.ledger.state]).toEqual([1, 'refuted', 'intact']);
  expect(named(report.objects.missing)).toEqual([['object/missing', record(access)]]);
  expect(named(report.objects.altered)).toEqual([['object/replaced', record(deploys)]]);
  expect(named(report.objects.unexpected).sort()).toEqual([
    ['object/covered', access],
    ['object/covered', deploys],
    ['object/unexpected', 'runs/.hidden/run.json'],
    ['object/unexpected', 'runs/AUD-1/extra.txt'],
  ]);
  expect(named(report.objects.unlocked)).toEqual([
    ['object/unlocked', record(deploys)],
    ['object/unlocked', payments],
  ]);
  const text = await words();
  for (const said of ['has another version over it', 'delete marker', 'nothing records it', 'not locked as recorded'])
    expect(text).toContain(said);
});

test('nobody deletes what is under a compliance lock, and one that ends sooner than is asked for is named', async () => {
  const { bucket, bundleOf, verify } = await exported('compliance');
  expect(await deleteVersion(setting.client, bucket, await versionOf(bucket, bundleOf('payments')))).toBe(403);
  const { code, report } = await verify('--locked-for', '700d');
  expect([code, report.locks.state, report.locks.expiring]).toEqual([0, 'proved', []]);
  const longer = await verify('--locked-for', '800d');
  expect([longer.code, longer.report.outcome]).toEqual([3, 'incomplete']);
  expect(longer.report.locks.expiring).toHaveLength(report.locks.checked);
});

test('a store that attests no checksums has every bundle read, fast or not', async () => {
  const { bucket, bundleOf, verify } = await exported('governance');
  const key = bundleOf('payments');
  const original = await versionOf(bucket, key);
  const altered = await contentOf(setting.client, bucket, original);
  altered[100] = (altered[100] ?? 0) ^ 1;
  expect(await deleteVersion(setting.client, bucket, original)).toBe(204);
  await setting.client.send(
    new PutObjectCommand({ Bucket: bucket, Key: original.Key, Body: altered, ChecksumAlgorithm: 'SHA256' }),
  );
  const { code, report } = await verify('--fast');
  expect(code).toBe(1);
  expect(report.objects.altered).toContainEqual(expect.objectContaining({ code: 'object/altered', key }));
  expect(report.runs[0].streams.map(({ attested }: { attested: boolean }) => attested)).not.toContain(true);
});

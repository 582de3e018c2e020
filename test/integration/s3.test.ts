import { homedir } from 'node:os';
import { inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { contentOf, deleteVersion, versionsIn } from '../support/bucket.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { KMS_KEY_ID } from '../support/radosgw.ts';
import { newPlace, type S3Place, serveS3 } from '../support/s3-place.ts';
import { someRows } from '../support/some-rows.ts';

const STREAMS = ['payments', 'access', 'deploys'];

const setting = serveS3(Object.fromEntries(STREAMS.map((stream, index) => [stream, 20 * (index + 1)])));

const EXPORT = ['export', '--all-time', '--request', 'AUD-1'];

async function verified(place: S3Place): Promise<{ runs: { streams: { stream_id: string }[] }[]; ledger: unknown }> {
  const { code, stdout, stderr } = await place.evidence('verify', `s3://${place.bucket}/prod`, '--json', '--quiet');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

async function namesIn({ bucket }: S3Place): Promise<string[]> {
  const versions = await versionsIn(setting.client, bucket);
  return versions.map(({ Key = '' }) => Key).filter((name) => !name.endsWith('/.capabilities'));
}

test('an export over TLS lies in the bucket locked, encrypted, with its versions on record, and holds no secret', async () => {
  const place = await newPlace(setting, 'lock', {
    endpoint: setting.gateway.tlsEndpoint,
    ca_file: setting.gateway.caFile,
    retention: { mode: 'compliance', years: 7 },
    kms_key_id: KMS_KEY_ID,
  });
  const exported = await place.evidence(...EXPORT, '--json');
  expect([exported.code, exported.stderr.includes('3/3')]).toEqual([0, true]);
  const run = JSON.parse(exported.stdout);
  expect(run.warnings).toEqual([
    { code: 'create-only-by-versions', message: expect.stringContaining('ignores create-only writes') },
    { code: 'no-checksums', message: expect.stringContaining('does not attest SHA-256') },
  ]);
  const versions = await versionsIn(setting.client, place.bucket);
  const years = (at: string) => (Date.parse(at) - Date.now()) / (365.25 * 24 * 60 * 60 * 1000);
  for (const { bundle, record } of run.streams) {
    const of = (key: string) => versions.filter(({ Key }) => Key === `prod/${key}`);
    expect(of(bundle.key)).toEqual([expect.objectContaining({ VersionId: bundle.version_id, Size: bundle.bytes })]);
    expect(of(record.key)).toEqual([expect.objectContaining({ VersionId: record.version_id })]);
    expect([bundle.lock.mode, Math.round(years(bundle.lock.retain_until))]).toEqual(['compliance', 7]);
  }
  for (const { key, version_id } of run.documents)
    expect(versions.filter(({ Key }) => Key === `prod/${key}`)).toEqual([
      expect.objectContaining({ VersionId: version_id }),
    ]);
  for (const version of versions) expect(await deleteVersion(setting.client, place.bucket, version)).toBe(403);
  expect((await verified(place)).runs[0]?.streams.map(({ stream_id }) => stream_id).sort()).toEqual(STREAMS.toSorted());
  const one = await place.evidence('verify', `s3://${place.bucket}/prod/runs/AUD-1/`);
  const again = await place.evidence(...EXPORT);
  expect([one.code, again.code, (await namesIn(place)).length]).toEqual([0, 0, 2 * STREAMS.length + 8]);
  await expectNoSecrets(place, [exported, one, again]);
});

/** Expects no secrets in stored objects, inflated zips included, or in the output. */
async function expectNoSecrets(place: S3Place, printed: Omit<Ended, 'code'>[]): Promise<void> {
  const texts = printed.map(({ stdout, stderr }) => `${stdout}${stderr}`);
  for (const version of await versionsIn(setting.client, place.bucket)) {
    const content = await contentOf(setting.client, place.bucket, version);
    texts.push(content.toString('latin1'), ...inflated(content));
  }
  expect(texts.some((text) => text.includes('"evidence-transfer-log/7"'))).toBe(true);
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = setting.gateway.env;
  const secrets = [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, setting.platform.apiKey, 'X-Amz-Signature', 'AWS4-HMAC'];
  const paths = [place.directory, place.temporary, process.cwd(), homedir() === '/' ? '/root/' : `${homedir()}/`];
  for (const forbidden of [...secrets, ...paths])
    for (const text of texts) expect(text.includes(forbidden), forbidden).toBe(false);
}

/** Returns the deflated files of a zip; each local header precedes its name and content. */
function inflated(zip: Buffer): string[] {
  const texts: string[] = [];
  for (let at = zip.indexOf('PK\x03\x04'); at >= 0; at = zip.indexOf('PK\x03\x04', at + 4)) {
    const start = at + 30 + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
    try {
      texts.push(inflateRawSync(zip.subarray(start)).toString('latin1'));
    } catch {
      // Stored files were already searched uncompressed.
    }
  }
  return texts;
}

test.each(someRows(['lock', 'plain'] as const, () => 'race'))(
  'two exports of the same run at once end in one (%s)',
  async (kind) => {
    const place = await newPlace(setting, kind);
    const results = await Promise.all([place.evidence(...EXPORT), place.evidence(...EXPORT)]);
    expect(results.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const report = await verified(place);
    expect(report.ledger).toMatchObject({ entries: 1, state: 'intact' });
    expect(new Set(await namesIn(place)).size).toBe(2 * STREAMS.length + 8);
  },
);

test.each(someRows(['plain', 'lock'] as const, () => 'race'))(
  'runs that race for the ledger all stand in it (%s)',
  async (kind) => {
    const place = await newPlace(setting, kind);
    const ids = ['A', 'B', 'C'];
    const results = await Promise.all(ids.map((id) => place.evidence('export', '--all-time', '--request', id)));
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect((await verified(place)).ledger).toMatchObject({ entries: 3, state: 'intact' });
  },
);

test.each([
  ['a wrong key', {}, { AWS_SECRET_ACCESS_KEY: 'not-the-secret-key' }, 5, /SignatureDoesNotMatch/],
  ['no bucket', { url: 's3://no-such-bucket/x' }, {}, 2, /NoSuchBucket/],
  ['a bucket without locks', { retention: { mode: 'compliance', years: 7 } }, {}, 2, /Object Lock/],
  ['a certificate that nobody knows', { endpoint: 'tls' }, {}, 3, /certificate is not trusted[\s\S]*ca_file/],
  ['no credentials', {}, { AWS_ACCESS_KEY_ID: '', AWS_EC2_METADATA_DISABLED: 'true' }, 2, /no credentials/],
] as const)('%s ends before anything is asked of the service', async (_name, more, env, code, words) => {
  const endpoint = 'endpoint' in more ? { endpoint: setting.gateway.tlsEndpoint } : {};
  const place = await newPlace(setting, 'plain', { ...more, ...endpoint });
  const all = {
    ...setting.platform.env,
    EVIDENCE_AUDIT_URL: 'http://127.0.0.1:9/audit',
    ...setting.gateway.env,
    ...env,
    HOME: place.directory,
  };
  const result = await evidence(EXPORT, { cwd: place.directory, env: all });
  expect([result.code, result.stderr]).toEqual([code, expect.stringMatching(words)]);
  for (const secret of [...Object.values(setting.gateway.env).slice(0, 2), 'not-the-secret-key'])
    expect(`${result.stdout}${result.stderr}`).not.toContain(secret);
});

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openS3Archive } from '../../src/exporter/archive/s3/archive.ts';
import { DEFAULT_S3_LIMITS } from '../../src/exporter/archive/s3/options.ts';
import { evidence } from '../support/evidence.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { allow, type IdentityPolicy, makeBucket, makeUser, type Radosgw, useRadosgw } from '../support/radosgw.ts';
import { type Asked, type Relay, startRelay } from '../support/relay.ts';

const ROLES = ['writer', 'auditor', 'administrator'] as const;
type Role = (typeof ROLES)[number];

let platform: ServedPlatform;
let gateway: Radosgw;
let bucket: string;
const directory = mkdtempSync(join(tmpdir(), 'policies-test-'));
const policies = {} as Record<Role, IdentityPolicy>;
const users = {} as Record<Role, Radosgw['env']>;
const relays = {} as Record<Role, Relay>;

beforeAll(async () => {
  [platform, gateway] = await Promise.all([servePlatform(), useRadosgw()]);
  await postEntries(platform, someEntries('payments', 5));
  bucket = await makeBucket(gateway, 'lock');
  const init = await evidence(['init', '--archive', `s3://${bucket}/prod`], { cwd: directory });
  expect(init.code, init.stderr).toBe(0);
  for (const role of ROLES) {
    policies[role] = JSON.parse(readFileSync(join(directory, `deploy/${role}-policy.json`), 'utf8'));
    users[role] = await makeUser(gateway, role);
    relays[role] = await startRelay(gateway.endpoint);
  }
  await allow(gateway, bucket, policies);
});
afterAll(async () => {
  await Promise.all([...Object.values(relays).map((relay) => relay.close()), platform.stop()]);
});

async function as(role: Role, ...args: string[]) {
  const archive = {
    url: `s3://${bucket}/prod`,
    endpoint: relays[role].url,
    retention: { mode: 'governance', years: 1 },
  };
  const config = `${role}.yaml`;
  writeFileSync(join(directory, config), JSON.stringify({ archive }));
  const env = { ...platform.env, ...users[role] };
  return evidence([...args, '--config', config], { cwd: directory, env });
}

/** Makes a source that ends too early, so that the multipart upload is aborted. */
async function giveUpAnUpload(role: Role): Promise<void> {
  Object.assign(process.env, users[role]);
  const archive = openS3Archive(
    { bucket, prefix: 'prod/' },
    {
      endpoint: relays[role].url,
      pathStyle: true,
      legalHold: false,
      signal: new AbortController().signal,
      limits: { ...DEFAULT_S3_LIMITS, multipartBytes: 6 * 2 ** 20, partBytes: 5 * 2 ** 20 },
    },
  );
  const source = { bytes: Buffer.alloc(7 * 2 ** 20) };
  const put = archive.put('runs/x/streams/x.zip', source, { bytes: source.bytes.length, sha256: '0'.repeat(64) });
  await expect(put).rejects.toMatchObject({ code: 'unreadable' });
  await archive.close();
}

/** Returns the permissions that Amazon requires for a request (Service Authorization Reference, Amazon S3). */
function permissionsFor({ method, url, headers }: Asked): string[] {
  const { pathname, searchParams: query } = new URL(url, 'http://store');
  const isBucket = pathname.split('/').filter((part) => part !== '').length === 1;
  if (isBucket) {
    if (query.has('versions')) return ['s3:ListBucketVersions'];
    if (query.has('uploads')) return ['s3:ListBucketMultipartUploads'];
    if (query.has('versioning')) return ['s3:GetBucketVersioning'];
    if (query.has('object-lock')) return ['s3:GetBucketObjectLockConfiguration'];
    return ['s3:ListBucket'];
  }
  if (method === 'DELETE') return query.has('uploadId') ? ['s3:AbortMultipartUpload'] : ['a deletion'];
  if (query.has('retention')) return [method === 'PUT' ? 's3:PutObjectRetention' : 's3:GetObjectRetention'];
  if (query.has('legal-hold')) return [method === 'PUT' ? 's3:PutObjectLegalHold' : 's3:GetObjectLegalHold'];
  const reading = query.has('versionId') ? 's3:GetObjectVersion' : 's3:GetObject';
  if (method === 'GET') return [reading];
  // Without permission to read locks, the answer omits them.
  if (method === 'HEAD') return [reading, 's3:GetObjectRetention', 's3:GetObjectLegalHold'];
  return ['s3:PutObject', ...('x-amz-object-lock-mode' in headers ? ['s3:PutObjectRetention'] : [])];
}

const actionsOf = ({ Statement }: IdentityPolicy) => new Set(Statement.flatMap(({ Action }) => Action));
const usedBy = (role: Role) => new Set(relays[role].requests.flatMap(permissionsFor));

/** Actions for stores and old buckets without versions. */
const WITHOUT_VERSIONS = ['s3:ListBucket', 's3:GetObject'];

test('each role does its work with its policy, and its policy allows what that takes and no more', async () => {
  expect((await as('writer', 'doctor')).stdout).toMatch(/^✓ deletion/m);
  const run = await as('writer', 'export', '--request', 'AUD-1', '--all-time', '--json');
  expect(run.code, run.stderr).toBe(0);
  await giveUpAnUpload('writer');
  for (const args of [['verify', `s3://${bucket}/prod`], ['runs']]) {
    const read = await as('auditor', ...args);
    expect(read.code, read.stderr).toBe(0);
  }
  for (const args of [
    ['hold', 'AUD-1', '--reason', 'h'],
    ['release', 'AUD-1', '--reason', 'r'],
    ['hold', 'AUD-1', '--reason', 'h'],
    ['extend', 'AUD-1', '--years', '2', '--reason', 'e'],
    ['share', 'AUD-1', '--for', 'A. Uditor'],
  ]) {
    const changed = await as('administrator', ...args);
    expect(changed.code, changed.stderr).toBe(0);
  }
  const verified = await as('auditor', 'verify', `s3://${bucket}/prod`, '--json');
  expect([verified.code, JSON.parse(verified.stdout).locks.state]).toEqual([0, 'proved']);
  for (const role of ROLES) {
    const allowed = actionsOf(policies[role]);
    const used = usedBy(role);
    // The doctor tries deletions, to check that the store refuses them.
    expect(used.delete('a deletion')).toBe(role === 'writer');
    expect([role, [...used].filter((action) => !allowed.has(action))]).toEqual([role, []]);
    const unused = [...allowed].filter((action) => !used.has(action) && !WITHOUT_VERSIONS.includes(action));
    expect([role, unused]).toEqual([role, []]);
  }
});

// The writer is not tested: unlike Amazon's, this store lets the owner of an object release its hold.
test.each([
  ['auditor', ['export', '--request', 'AUD-2', '--all-time']],
  ['auditor', ['hold', 'AUD-1', '--reason', 'h']],
  ['auditor', ['share', 'AUD-1', '--for', 'A. Uditor']],
  ['administrator', ['export', '--request', 'AUD-2', '--all-time']],
] as const)('the policy of the %s does not let it %j', async (role, args) => {
  const refused = await as(role, ...args);
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('403')]);
});

test("the bucket's own policy keeps even its owner from taking evidence away", async () => {
  const guarded = await makeBucket(gateway, 'lock');
  const folder = mkdtempSync(join(tmpdir(), 'bucket-policy-'));
  await evidence(['init', '--archive', `s3://${guarded}/prod`], { cwd: folder });
  const { Statement } = JSON.parse(readFileSync(join(folder, 'deploy/bucket-policy.json'), 'utf8'));
  await allow(gateway, guarded, {}, Statement);
  const archive = {
    endpoint: gateway.tlsEndpoint,
    ca_file: gateway.caFile,
    retention: { mode: 'governance', years: 1 },
  };
  writeFileSync(
    join(folder, 'evidence.yaml'),
    JSON.stringify({ archive: { url: `s3://${guarded}/prod`, ...archive } }),
  );
  const { code, stdout } = await evidence(['doctor'], { cwd: folder, env: { ...platform.env, ...gateway.env } });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ deletion/m)]);
});

test('only a writer that puts legal holds may, and one that encrypts may use its key and no other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'policies-more-'));
  const key = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd';
  await evidence(['init', '--archive', 's3://acme', '--legal-hold', '--kms-key', key], { cwd: folder });
  const policy: IdentityPolicy = JSON.parse(readFileSync(join(folder, 'deploy/writer-policy.json'), 'utf8'));
  const more = ['kms:Decrypt', 'kms:GenerateDataKey', 's3:PutObjectLegalHold'];
  expect([...actionsOf(policy)].sort()).toEqual([...actionsOf(policies.writer), ...more].sort());
  const encrypting = policy.Statement.filter(({ Action }) => Action.includes('kms:Decrypt'));
  expect(encrypting.map(({ Resource }) => Resource)).toEqual([key]);
  // The whole bucket is the archive, so no prefix limits the policy.
  expect(policy.Statement.filter((statement) => 'Condition' in statement)).toEqual([]);
});

test('init writes a configuration that the doctor can read, and nothing over what is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'init-'));
  const flags = ['--archive', 's3://acme/prod', '--endpoint', gateway.endpoint, '--mode', 'governance', '--years', '3'];
  expect((await evidence(['init', ...flags], { cwd: folder })).code).toBe(0);
  const written = readFileSync(join(folder, 'evidence.yaml'), 'utf8');
  const doctor = await evidence(['doctor'], { cwd: folder, env: { ...platform.env, ...gateway.env } });
  expect(doctor.stdout).toMatch(/^✗ bucket +the bucket acme does not exist/m);
  const again = await evidence(['init', '--archive', 's3://other'], { cwd: folder });
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('evidence.yaml')]);
  expect(readFileSync(join(folder, 'evidence.yaml'), 'utf8')).toBe(written);
});

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectRetentionCommand, type S3Client } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, test } from 'vitest';
import { openS3Archive } from '../../../src/exporter/archive/s3/archive.ts';
import { DEFAULT_S3_LIMITS, type S3Options } from '../../../src/exporter/archive/s3/options.ts';
import { describeArchive, expectedOf } from '../../conformance/archive.ts';
import { contentOf, deleteVersion, uploadsIn, versionsIn } from '../../support/bucket.ts';
import { finish, startNode } from '../../support/process.ts';
import { adminClient, KMS_KEY_ID, makeBucket, type Radosgw, useRadosgw } from '../../support/radosgw.ts';
import { type Asked, startRelay } from '../../support/relay.ts';
import { someRows } from '../../support/some-rows.ts';

let gateway: Radosgw;
beforeAll(async () => {
  gateway = await useRadosgw();
  Object.assign(process.env, gateway.env);
});

function options(more: Partial<S3Options> = {}): S3Options {
  const { signal } = new AbortController();
  return { endpoint: gateway.endpoint, pathStyle: true, legalHold: false, limits: DEFAULT_S3_LIMITS, signal, ...more };
}

const IN_PARTS = { ...DEFAULT_S3_LIMITS, multipartBytes: 6 * 2 ** 20, partBytes: 5 * 2 ** 20 };

const KINDS = ['lock', 'versioned', 'plain'] as const;
const KEEPS_VERSIONS = { lock: true, versioned: true, plain: false };

describe.each(someRows(KINDS, (kind) => KEEPS_VERSIONS[kind]))('a %s bucket', (kind) => {
  let bucket: string;
  let archives = 0;
  beforeAll(async () => {
    bucket = await makeBucket(gateway, kind);
  });
  describeArchive(`a real S3 (${kind})`, async () => {
    archives += 1;
    return openS3Archive({ bucket, prefix: `a prefix/${archives}/` }, options({ limits: IN_PARTS }));
  });
});

test('what is sent whole and in parts is locked, held and encrypted, and cannot be deleted', async () => {
  const bucket = await makeBucket(gateway, 'lock');
  const protection = { retention: { mode: 'governance', years: 2 }, legalHold: true, kmsKeyId: KMS_KEY_ID } as const;
  const archive = openS3Archive({ bucket, prefix: '' }, options({ limits: IN_PARTS, ...protection }));
  const client = adminClient(gateway);
  for (const [key, bytes] of [
    ['whole', Buffer.from('x')],
    ['parts', Buffer.alloc(7 * 2 ** 20, 'x')],
  ] as const) {
    const stored = await archive.put(key, { bytes }, expectedOf(bytes));
    expect(stored).toMatchObject({ state: 'created', lock: { mode: 'governance' }, legal_hold: true });
    expect(await archive.put(key, { bytes }, expectedOf(bytes))).toEqual({ ...stored, state: 'existing' });
    const [version] = (await versionsIn(client, bucket)).filter(({ Key }) => Key === key);
    expect(version?.VersionId).toBe(stored.version_id);
    if (version !== undefined) expect(await deleteVersion(client, bucket, version)).toBe(403);
  }
  expect(await archive.limitations()).toContainEqual(expect.objectContaining({ code: 'locked-later' }));
  await archive.close();
  client.destroy();
});

const OBJECTS = 4;
const CRASH_WRITER = join(import.meta.dirname, 's3-crash-writer.ts');

function write(bucket: string, { endpoint = gateway.endpoint, objects = OBJECTS, mode = '' } = {}) {
  const args = [endpoint, bucket, String(objects), mode];
  return startNode(CRASH_WRITER, args, { cwd: tmpdir(), env: gateway.env });
}

/** Runs the writer and kills it instead of forwarding a request that `isMoment` matches. */
async function killedAt(isMoment: (asked: Asked) => boolean, ...[bucket, more]: Parameters<typeof write>) {
  let stop = () => {};
  const holds = (asked: Asked) => {
    const isNow = isMoment(asked);
    if (isNow) stop();
    return isNow;
  };
  const relay = await startRelay(gateway.endpoint, { holds });
  const child = write(bucket, { ...more, endpoint: relay.url });
  stop = () => child.kill('SIGKILL');
  expect((await finish(child)).signal).toBe('SIGKILL');
  await relay.close();
}

/** Runs the writer again and checks the bucket. */
async function expectWritten(client: S3Client, bucket: string): Promise<void> {
  expect(await finish(write(bucket))).toMatchObject({ code: 0, stderr: '' });
  const versions = (await versionsIn(client, bucket)).filter(({ Key = '' }) => Key.startsWith('p/runs/'));
  expect(versions.map(({ Key }) => Key)).toEqual(Array.from({ length: OBJECTS }, (_, index) => `p/runs/${index}`));
  expect(await uploadsIn(client, bucket)).toBe(0);
  for (const [index, version] of versions.entries())
    expect((await contentOf(client, bucket, version)).subarray(0, 10).toString()).toBe(`object ${index}, `);
}

test('killed between two parts, a writer takes them away when it is run again', async () => {
  const client = adminClient(gateway);
  const bucket = await makeBucket(gateway, 'lock');
  await killedAt(({ url }) => /\/p\/runs\/2\?.*partNumber=2/.test(url), bucket);
  expect(await uploadsIn(client, bucket)).toBe(1);
  await expectWritten(client, bucket);
  client.destroy();
});

test('killed between what it sent in parts and its lock, a writer locks that when it is run again', async () => {
  const client = adminClient(gateway);
  const bucket = await makeBucket(gateway, 'lock');
  const locks = ({ method, url }: Asked) => method === 'PUT' && /\/p\/runs\/0\?.*retention/.test(url);
  await killedAt(locks, bucket, { objects: 1, mode: 'compliance' });
  const stored = async () => (await versionsIn(client, bucket)).filter(({ Key }) => Key === 'p/runs/0');
  const [unlocked, ...more] = await stored();
  if (unlocked === undefined) throw new Error('nothing was stored');
  const Version = { Bucket: bucket, Key: 'p/runs/0', VersionId: unlocked.VersionId };
  const lock = () => client.send(new GetObjectRetentionCommand(Version)).catch(({ name }) => name);
  expect([more, await lock()]).toEqual([[], 'ObjectLockConfigurationNotFoundError']);

  const retention = { mode: 'compliance', years: 1 } as const;
  const archive = openS3Archive({ bucket, prefix: 'p/' }, options({ limits: IN_PARTS, retention }));
  const bytes = await contentOf(client, bucket, unlocked);
  const result = await archive.put('runs/0', { bytes }, expectedOf(bytes));
  expect(result).toMatchObject({ state: 'existing', version_id: unlocked.VersionId, lock: { mode: 'compliance' } });
  expect(await archive.limitations()).toContainEqual(expect.objectContaining({ code: 'locked-later' }));
  expect((await lock()).Retention.Mode).toBe('COMPLIANCE');
  expect([(await stored()).length, await deleteVersion(client, bucket, unlocked)]).toEqual([1, 403]);
  await archive.close();
  client.destroy();
});

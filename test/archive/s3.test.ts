import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { openS3Archive } from '../../src/archive/s3/archive.ts';
import { DEFAULT_LIMITS, type S3Options } from '../../src/archive/s3/options.ts';
import { describeArchive, expectedOf } from '../contract/archive.ts';
import { contentOf, deleteVersion, uploadsIn, versionsIn } from '../support/bucket.ts';
import { finish, startNode } from '../support/process.ts';
import { adminClient, KMS_KEY_ID, makeBucket, type Radosgw, useRadosgw } from '../support/radosgw.ts';

let gateway: Radosgw;
beforeAll(async () => {
  gateway = await useRadosgw();
  Object.assign(process.env, gateway.env);
});

function options(more: Partial<S3Options> = {}): S3Options {
  const { signal } = new AbortController();
  return { endpoint: gateway.endpoint, pathStyle: true, legalHold: false, limits: DEFAULT_LIMITS, signal, ...more };
}

const IN_PARTS = { ...DEFAULT_LIMITS, multipartBytes: 6 * 2 ** 20, partBytes: 5 * 2 ** 20 };

describe.each(['lock', 'versioned', 'plain'] as const)('a %s bucket', (kind) => {
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
  expect(await archive.shortcomings()).toContainEqual(expect.stringContaining('they were locked right after'));
  await archive.close();
  client.destroy();
});

const KILLS = Number(process.env['EVIDENCE_TEST_KILLS'] ?? 5);
const OBJECTS = 4;

test(`killed at ${KILLS} random moments, a writer leaves no upload and writes nothing twice when it is run again`, async () => {
  const client = adminClient(gateway);
  const write = (bucket: string) =>
    startNode(join(import.meta.dirname, 's3-crash-writer.ts'), [gateway.endpoint, bucket, String(OBJECTS)], {
      cwd: import.meta.dirname,
      env: gateway.env,
    });
  const began = performance.now();
  expect(await finish(write(await makeBucket(gateway, 'plain')))).toMatchObject({ code: 0, stderr: '' });
  const longest = performance.now() - began;
  let orphans = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const bucket = await makeBucket(gateway, kill % 2 === 0 ? 'lock' : 'plain');
    const child = write(bucket);
    const finished = finish(child);
    await Promise.race([sleep(Math.random() * longest), finished]);
    child.kill('SIGKILL');
    await finished;
    orphans += await uploadsIn(client, bucket);
    expect(await finish(write(bucket))).toMatchObject({ code: 0, stderr: '' });
    const versions = (await versionsIn(client, bucket)).filter(({ Key = '' }) => Key.startsWith('p/runs/'));
    expect(versions.map(({ Key }) => Key)).toEqual(Array.from({ length: OBJECTS }, (_, index) => `p/runs/${index}`));
    expect(await uploadsIn(client, bucket)).toBe(0);
    for (const [index, version] of versions.entries())
      expect((await contentOf(client, bucket, version)).subarray(0, 10).toString()).toBe(`object ${index}, `);
  }
  // Otherwise nothing was shown.
  expect(orphans).toBeGreaterThan(0);
  client.destroy();
}, 600_000);

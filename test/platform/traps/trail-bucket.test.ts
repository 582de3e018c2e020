import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { newAwsId } from '../../../src/platform/traps/aws/access-key.ts';
import { RealKeys } from '../../../src/platform/traps/aws/real-keys.ts';
import type { TrailBucket } from '../../../src/platform/traps/aws/settings.ts';
import { Trail } from '../../../src/platform/traps/aws/trail.ts';
import { readBucket, readNamedFiles } from '../../../src/platform/traps/aws/trail-bucket.ts';
import { importedKeySchema } from '../../../src/platform/traps/wire.ts';
import { adminClient, makeBucket, useRadosgw } from '../../support/radosgw.ts';
import { type DatabasePlace, startSqlitePlace } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { logFile, trailEvent } from './trail-events.ts';
import { TrapPlace } from './trap-place.ts';

const FOLDER = 'AWSLogs/111122223333/CloudTrail/eu-west-1';
const KEY = newAwsId('AKIA', '111122223333');

let place: DatabasePlace;
let database: Database;
let at: TrapPlace;
let settings: TrailBucket;
let put: (key: string, body: string | Uint8Array) => Promise<unknown>;
let done: () => void;
beforeAll(async () => {
  place = await startSqlitePlace();
  ({ database } = await place.createMigrated());
  at = new TrapPlace(database);
  const gateway = await useRadosgw();
  const client = adminClient(gateway);
  done = () => client.destroy();
  const bucket = await makeBucket(gateway, 'plain');
  put = (Key, Body) => client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
  const { accessKeyId, secretAccessKey: secret } = await client.config.credentials();
  const access = { accessKeyId, secret, region: 'us-east-1', endpoint: gateway.endpoint };
  settings = { access, bucket, prefix: 'AWSLogs/', everyMinutes: 5 };
  const keys = new RealKeys({ traps: at.traps, database, clock: () => new Date(at.now), places: () => [], iam: null });
  const input = { plant_location: 'ci', label: 'x', access_key_id: KEY };
  await keys.import(SOMEBODY, importedKeySchema.parse(input), undefined);
}, 120_000);
afterAll(async () => {
  done();
  await place.close();
});

test('a bucket is read file by file, each once, from two days before what was read last', async () => {
  const clock = () => new Date(at.now);
  let files = 0;
  const trail = new Trail({ database, marks: at.vault.marks, uses: at.uses, clock, readFiles: null });
  const counting = {
    take(body: AsyncIterable<Uint8Array>) {
      files++;
      return trail.take(body);
    },
  } as Trail;
  const read = () => readBucket(settings, { database, trail: counting, clock });
  const uses = async () => (await at.found()).reduce((sum, { occurrences }) => sum + occurrences, 0);
  const event = (eventTime: string) => trailEvent(KEY, { eventTime });

  await put(`${FOLDER}/2026/11/01/old.json.gz`, gzipSync(logFile(3, event('2026-11-01T00:00:00Z'))));
  await put(`${FOLDER}/2026/11/21/a.json.gz`, gzipSync(logFile(3, event('2026-11-21T10:00:00Z'))));
  await put(`${FOLDER}/2026/11/22/b.json.gz`, gzipSync(logFile(3, event('2026-11-21T23:58:00Z'))));
  await put(
    'AWSLogs/111122223333/CloudTrail-Digest/eu-west-1/2026/11/22/d.json.gz',
    gzipSync(logFile(0, event('2026-11-22T00:00:00Z'))),
  );
  await read();
  expect([files, await uses()]).toEqual([2, 2]);
  await read();
  expect(files).toBe(2);

  at.now += 10 * 60_000;
  await put(`${FOLDER}/2026/11/22/broken.json.gz`, gzipSync(logFile(300)).subarray(0, 900));
  await put(`${FOLDER}/2026/11/22/c.json.gz`, gzipSync(logFile(3, event('2026-11-22T00:05:00Z'))));
  await expect(read()).rejects.toThrow(/1 of 2 log files could not be read: .*broken\.json\.gz/);
  expect([files, await uses()]).toEqual([4, 3]);

  await put(`${FOLDER}/2026/11/22/broken.json.gz`, gzipSync(logFile(300, event('2026-11-22T00:06:00Z'))));
  await read();
  expect([files, await uses()]).toEqual([5, 4]);
});

test('files that a notification names are read once, and by nobody again who reads the bucket', async () => {
  const clock = () => new Date(at.now);
  const trail: Trail = new Trail({
    database,
    marks: at.vault.marks,
    uses: at.uses,
    clock,
    readFiles: (files) => readNamedFiles(settings, files, { database, trail, clock }),
  });
  const key = `${FOLDER}/2026/11/22/named.json.gz`;
  await put(key, gzipSync(logFile(3, trailEvent(KEY, { eventTime: '2026-11-22T00:07:00Z' }))));
  const notify = (message: object) => {
    const notification = { Type: 'Notification', Message: JSON.stringify(message) };
    return trail.take(Readable.from([Buffer.from(JSON.stringify(notification))]));
  };
  const named = { s3Bucket: settings.bucket, s3ObjectKey: [key] };
  expect(await notify(named)).toEqual({ events: 4, matched: 1, known: 0 });
  const none = { events: 0, matched: 0, known: 0 };
  expect(await notify(named)).toEqual(none);
  const reading = { take: () => Promise.reject(new Error('it is read again')) } as unknown as Trail;
  await readBucket(settings, { database, trail: reading, clock });
  await expect(notify({ ...named, s3Bucket: 'other' })).rejects.toMatchObject({ code: 'conflict' });
  await expect(notify({ ...named, s3ObjectKey: ['elsewhere/x.json'] })).rejects.toThrow('elsewhere/x.json');
  await expect(notify({ ...named, s3ObjectKey: [`${FOLDER}/none.json`] })).rejects.toThrow('none.json cannot be read');
});

import type { S3Client } from '@aws-sdk/client-s3';
import { messageOf } from '../../../core/errors.ts';
import type { Database } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Job } from '../../jobs/scheduler.ts';
import type { TrapTables } from '../tables.ts';
import type { TrailTally } from '../wire.ts';
import type { TrailBucket } from './settings.ts';
import type { Trail } from './trail.ts';
import type { NamedLogFiles } from './trail-records.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Maximum delay of a log file behind others. */
const LATE_MS = 2 * DAY_MS;
/** Maximum number of levels above the years: organization, account, kind, region. */
const MOST_LEVELS = 8;
const MINUTE_MS = 60_000;
/** Maximum duration of a run before another process may start one. */
const AT_MOST_MS = 60 * MINUTE_MS;

interface TrailBucketDeps {
  database: Database;
  trail: Trail;
  clock: () => Date;
}

/** Returns the job that reads each new log file in a trail's bucket once. */
export function trailBucketJob(settings: TrailBucket, deps: TrailBucketDeps): Job {
  return {
    name: 'traps/cloudtrail-bucket',
    everyMs: settings.everyMinutes * MINUTE_MS,
    atMostMs: AT_MOST_MS,
    run: () => readBucket(settings, deps),
  };
}

/** @throws Error with the number of files that could not be read and will be tried again; the other files were read. */
export async function readBucket(settings: TrailBucket, deps: TrailBucketDeps): Promise<void> {
  const { database, clock } = deps;
  const sdk = await import('@aws-sdk/client-s3');
  const client = clientOf(sdk, settings);
  try {
    const since = new Date(Date.parse(await lastRead(database, clock())) - LATE_MS);
    const failures: string[] = [];
    let read = 0;
    for await (const keys of logFilesSince(sdk, client, settings, since))
      for (const key of await unread(database, keys))
        try {
          await readFile(sdk, client, settings.bucket, key, deps);
          read++;
        } catch (error) {
          failures.push(`${key}: ${messageOf(error)}`);
        }
    await forget(database, since);
    if (failures.length > 0)
      throw new Error(`${failures.length} of ${read + failures.length} log files could not be read: ${failures[0]}`);
  } finally {
    client.destroy();
  }
}

/**
 * Reads the files of a notification, each once, even if another process reads the bucket.
 * @throws DomainError `conflict` if a file is in another place or cannot be read; the files before it were read.
 */
export async function readNamedFiles(
  settings: TrailBucket,
  { bucket, keys }: NamedLogFiles,
  deps: TrailBucketDeps,
): Promise<TrailTally> {
  const { bucket: own, prefix } = settings;
  const strange = bucket === own ? keys.find((key) => !key.startsWith(prefix)) : '';
  if (strange !== undefined) {
    const reason = `a log file lies in ${bucket}/${strange}, and the settings name ${own}/${prefix} under cloudtrail`;
    throw new DomainError('conflict', reason);
  }
  const sdk = await import('@aws-sdk/client-s3');
  const client = clientOf(sdk, settings);
  const all: TrailTally = { events: 0, matched: 0, known: 0 };
  try {
    for (const key of await unread(deps.database, keys)) {
      const tally = await readFile(sdk, client, bucket, key, deps).catch((error) => {
        throw new DomainError('conflict', `the log file ${key} cannot be read: ${messageOf(error)}`);
      });
      for (const name of ['events', 'matched', 'known'] as const) all[name] += tally[name];
    }
    return all;
  } finally {
    client.destroy();
  }
}

type Sdk = typeof import('@aws-sdk/client-s3');

function clientOf({ S3Client }: Sdk, { access: { accessKeyId, secret, region, endpoint } }: TrailBucket): S3Client {
  const elsewhere = endpoint === null ? {} : { endpoint, forcePathStyle: true };
  return new S3Client({ region, credentials: { accessKeyId, secretAccessKey: secret }, ...elsewhere });
}

/**
 * Yields the keys of log files since a day. A trail writes `…/CloudTrail/REGION/YYYY/MM/DD/FILE`. The listing of each
 * region starts at that day, so a run lists a few days even if the bucket holds many years.
 */
async function* logFilesSince(sdk: Sdk, client: S3Client, { bucket, prefix }: TrailBucket, since: Date) {
  const day = since.toISOString().slice(0, 10).replaceAll('-', '/');
  const folders = [{ folder: prefix, level: 0 }];
  for (const { folder, level } of folders) {
    const years: string[] = [];
    for await (const page of pages(sdk, client, { Bucket: bucket, Prefix: folder, Delimiter: '/' })) {
      yield logFiles(page);
      for (const { Prefix = '' } of page.CommonPrefixes ?? []) {
        if (/(^|\/)\d{4}\/$/.test(Prefix)) years.push(Prefix);
        else if (!/-(Digest|Insight)\/$/.test(Prefix) && level < MOST_LEVELS)
          folders.push({ folder: Prefix, level: level + 1 });
      }
    }
    if (years.length === 0) continue;
    const inDays = { Bucket: bucket, Prefix: folder, StartAfter: `${folder}${day}` };
    for await (const page of pages(sdk, client, inDays)) yield logFiles(page);
  }
}

function pages({ paginateListObjectsV2 }: Sdk, client: S3Client, input: Parameters<Sdk['paginateListObjectsV2']>[1]) {
  return paginateListObjectsV2({ client }, input);
}

function logFiles({ Contents = [] }: { Contents?: { Key?: string | undefined }[] | undefined }): string[] {
  return Contents.flatMap(({ Key }) => (Key !== undefined && /\.json(\.gz)?$/.test(Key) ? [Key] : []));
}

async function readFile(
  sdk: Sdk,
  client: S3Client,
  bucket: string,
  key: string,
  deps: TrailBucketDeps,
): Promise<TrailTally> {
  const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key }));
  if (Body === undefined) throw new Error('the object has no body');
  const tally = await deps.trail.take(Body as unknown as AsyncIterable<Uint8Array>);
  const row = { object_key: key, read_at: deps.clock().toISOString() };
  await deps.database.write((transaction) =>
    transaction
      .tables<TrapTables>()
      .insertInto('cloudtrail_objects')
      .values(row)
      .onConflict((conflict) => conflict.column('object_key').doNothing())
      .execute(),
  );
  return tally;
}

/** Returns the time at which a log file was last read; the current time if none was read yet. */
async function lastRead(database: Database, now: Date): Promise<string> {
  const files = database.tables<TrapTables>().selectFrom('cloudtrail_objects');
  const { at } = await files.select((of) => of.fn.max('read_at').as('at')).executeTakeFirstOrThrow();
  return at ?? now.toISOString();
}

async function unread(database: Database, keys: readonly string[]): Promise<string[]> {
  const files = database.tables<TrapTables>().selectFrom('cloudtrail_objects').select('object_key');
  const rows = await files.where(database.sql.isAmong('object_key', [...keys])).execute();
  const known = new Set(rows.map(({ object_key }) => object_key));
  return keys.filter((key) => !known.has(key));
}

/**
 * Deletes the records of files from days that are no longer listed. Files without a day in their key are always listed,
 * so their records are kept.
 */
async function forget(database: Database, since: Date): Promise<void> {
  const before = new Date(since.getTime() - DAY_MS).toISOString();
  await database.write((transaction) =>
    transaction
      .tables<TrapTables>()
      .deleteFrom('cloudtrail_objects')
      .where('read_at', '<', before)
      .where('object_key', 'like', '%/____/__/__/%')
      .execute(),
  );
}

import {
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  type GetObjectLockConfigurationCommandOutput,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3';
import { plural } from '../../../core/plurals.ts';
import { attempt, type Check, compareClocks, failed, ok, skipped } from '../../check.ts';
import { Connection } from './connection.ts';
import { formatS3Url, type S3Options, type S3Place } from './options.ts';
import { type Bucket, checkDeletion, checkWriting } from './scratch.ts';

const NAMES = ['versioning', 'object-lock', 'retention', 'write', 'deletion', 'store-clock'] as const;

/** Checks everything that an archive in this bucket depends on, in the order in which an export needs it. */
export async function checkBucket(place: S3Place, options: S3Options): Promise<Check[]> {
  using connection = new Connection(options);
  const clock = watchClock(connection);
  const bucket = { connection, place, options };
  const exists = await attempt('bucket', () => checkExists(bucket));
  if (exists.state !== 'ok') return [exists, ...NAMES.map((name) => skipped(name, 'the bucket cannot be reached'))];
  const versioning = await attempt('versioning', () => checkVersioning(bucket));
  const configuration = await readLockConfiguration(bucket);
  const isLocking = !('state' in configuration) && configuration.enabled;
  return [
    exists,
    versioning,
    'state' in configuration ? configuration : checkLock(bucket, configuration.enabled),
    'state' in configuration || !configuration.enabled
      ? skipped('retention', 'the bucket has no Object Lock')
      : checkRetention(bucket, configuration.retention),
    await attempt('write', () => checkWriting(bucket, isLocking)),
    await attempt('deletion', () => checkDeletion(bucket, isLocking)),
    compareClocks('store-clock', 'the store', clock.last, new Date()),
  ];
}

/** Records the Date header of the newest answer, whatever its status. */
function watchClock({ client }: Connection): { last: string | null } {
  const clock: { last: string | null } = { last: null };
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { headers?: Record<string, string> };
      clock.last = headers?.['date'] ?? clock.last;
      return result;
    },
    { step: 'deserialize', name: 'watchClock', priority: 'low' },
  );
  return clock;
}

/** Checks that the bucket exists, by an operation that archives use constantly and policies therefore allow. */
async function checkExists({ connection, place }: Bucket): Promise<Check> {
  const { bucket, prefix } = place;
  const command = new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 });
  const page = await connection.sendOr(`list ${formatS3Url(place)}`, command, [404], () => null);
  if (page !== null) return ok('bucket', `${formatS3Url(place)} can be listed with this identity`);
  return failed(
    'bucket',
    `the bucket ${bucket} does not exist`,
    `Check archive.url, archive.region and archive.endpoint; or create it: aws s3api create-bucket --bucket ${bucket} --object-lock-enabled-for-bucket`,
  );
}

async function checkVersioning({ connection, place: { bucket } }: Bucket): Promise<Check> {
  const command = new GetBucketVersioningCommand({ Bucket: bucket });
  const { Status } = await connection.send(`read the versioning of the bucket ${bucket}`, command);
  if (Status === 'Enabled') return ok('versioning', 'on: overwriting an object keeps the earlier version');
  return failed(
    'versioning',
    `${Status === 'Suspended' ? 'suspended' : 'off'}: anyone who may write can replace archived objects`,
    `aws s3api put-bucket-versioning --bucket ${bucket} --versioning-configuration Status=Enabled`,
  );
}

interface DefaultRetention {
  mode: 'governance' | 'compliance';
  /** Days, or years converted at 365 days each, as S3 counts them. */
  days: number;
}

type LockConfiguration = { enabled: boolean; retention: DefaultRetention | null };

async function readLockConfiguration({ connection, place: { bucket } }: Bucket): Promise<LockConfiguration | Check> {
  // 404: none. 400, 405 and 501: the store does not support locks.
  const leave = [400, 404, 405, 501];
  let read: LockConfiguration = { enabled: false, retention: null };
  const outcome = await attempt('object-lock', async () => {
    const command = new GetObjectLockConfigurationCommand({ Bucket: bucket });
    const answer = await connection.sendOr(`read the Object Lock of the bucket ${bucket}`, command, leave, () => null);
    if (answer !== null) read = toConfiguration(answer);
    return ok('object-lock', '');
  });
  return outcome.state === 'ok' ? read : outcome;
}

function toConfiguration({
  ObjectLockConfiguration: found,
}: GetObjectLockConfigurationCommandOutput): LockConfiguration {
  const { Mode, Days, Years } = found?.Rule?.DefaultRetention ?? {};
  return {
    enabled: found?.ObjectLockEnabled === 'Enabled',
    retention:
      Mode === undefined
        ? null
        : { mode: Mode === 'COMPLIANCE' ? 'compliance' : 'governance', days: Days ?? (Years ?? 0) * 365 },
  };
}

function checkLock({ place: { bucket } }: Bucket, enabled: boolean): Check {
  if (enabled) return ok('object-lock', 'on');
  return failed(
    'object-lock',
    'off: objects in this bucket cannot be protected from deletion',
    `Use a bucket created with --object-lock-enabled-for-bucket, or, if the store supports it: aws s3api put-object-lock-configuration --bucket ${bucket} --object-lock-configuration ObjectLockEnabled=Enabled`,
  );
}

/**
 * Compares archive.retention, which is set on each object, with the bucket's default, which applies to everything else.
 */
function checkRetention({ options: { retention } }: Bucket, found: DefaultRetention | null): Check {
  const theirs = found === null ? 'none' : `${found.mode}, ${plural(found.days, 'day')}`;
  if (retention === undefined) {
    if (found !== null) return ok('retention', `by the default of the bucket: ${theirs}`);
    return failed(
      'retention',
      'none: neither archive.retention nor the bucket sets how long evidence is locked',
      'Set archive.retention: { mode: compliance, years: 7 } in evidence.yaml, according to your policy.',
    );
  }
  const ours = `${retention.mode}, ${retention.years === 1 ? '1 year' : `${retention.years} years`}`;
  const isWeaker =
    found !== null &&
    (found.days > retention.years * 366 || (found.mode === 'compliance' && retention.mode === 'governance'));
  if (!isWeaker) return ok('retention', `${ours}, set for each object (the default of the bucket: ${theirs})`);
  return failed(
    'retention',
    `archive.retention (${ours}) is shorter than the default of the bucket (${theirs}) and overrides it`,
    'Raise archive.retention to the policy of the bucket, or leave it out.',
  );
}

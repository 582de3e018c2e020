import type { Database } from '../../database/database.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { Dispatcher } from '../../outgoing/dispatcher.ts';
import type { Uses } from '../uses.ts';
import type { TrapVault } from '../vault.ts';
import { Iam } from './iam.ts';
import { lastUsedJob } from './last-used.ts';
import type { AwsSettings } from './settings.ts';
import { Trail } from './trail.ts';
import { readNamedFiles, trailBucketJob } from './trail-bucket.ts';
import type { NamedLogFiles } from './trail-records.ts';

export interface AwsChannelsDeps {
  database: Database;
  vault: TrapVault;
  uses: Uses;
  clock: () => Date;
}

/** By what AWS itself tells of uses. */
export interface AwsChannels {
  trail: Trail;
  /** Null where the settings have no aws. */
  iam: Iam | null;
  jobs: readonly Job[];
}

export function openAwsChannels({ iam: access, trail: bucket }: AwsSettings, deps: AwsChannelsDeps): AwsChannels {
  const { database, vault, uses, clock } = deps;
  const readFiles =
    bucket === null ? null : (files: NamedLogFiles) => readNamedFiles(bucket, files, { database, trail, clock });
  const trail: Trail = new Trail({ database, marks: vault.marks, uses, clock, readFiles });
  // Its address is in the settings: that names it among those of the inside that may be sent to.
  const allowed = access?.endpoint == null ? [] : [new URL(access.endpoint).host];
  const iam = access === null ? null : new Iam(access, new Dispatcher({ allowed }), clock);
  return {
    trail,
    iam,
    jobs: [
      ...(iam === null ? [] : [lastUsedJob({ database, vault, uses, iam, clock })]),
      ...(bucket === null ? [] : [trailBucketJob(bucket, { database, trail, clock })]),
    ],
  };
}

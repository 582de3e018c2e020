import type { AwsSettings } from './aws/settings.ts';
import type { FileWatches } from './bait.ts';
import type { DecoyPlace } from './decoys/decoy.ts';
import type { Channel, Origin } from './enums.ts';
import type { ChannelTruth } from './trap-wire.ts';

interface ChannelsDeps {
  /** Decoys that listen here. */
  places: () => readonly DecoyPlace[];
  aws: AwsSettings;
  /** Returns the times of the last reports of external channels. */
  reports: () => Promise<ReadonlyMap<Channel, string>>;
  /** Returns the watches of agents on endpoints and of the vaults of AI agents. */
  watches: FileWatches;
  clock: () => Date;
}

/** Returns a function that states for a trap's channel whether a use would be detected now, and why. */
export async function channelTruthOf({ places, aws, reports, watches, clock }: ChannelsDeps): Promise<ChannelTruth> {
  const [reported, watched, now] = [await reports(), await watches(), clock()];
  return ({ credential_id, credential_type, decoy, origin }, channel) => {
    if (channel === 'file_read') return watched.get(credential_id) ?? UNWATCHED;
    if (channel === 'vault_read' || channel === 'tool_call') return watched.get(credential_id) ?? NO_VAULT;
    if (channel === 'aws_cloudtrail' || channel === 'aws_last_used')
      return awsTruth(channel, { origin, aws, reportedAt: reported.get(channel) ?? null, now });
    if (decoy === null)
      return credential_type === 'web_bug'
        ? { active: true, reason: 'The platform itself receives the call.' }
        : { active: false, reason: 'The trap leads to no decoy.' };
    return places().some(({ name }) => name === decoy)
      ? { active: true, reason: `The decoy "${decoy}" is listening.` }
      : {
          active: false,
          reason: `The decoy "${decoy}" was removed from the settings: restore it, or rotate the trap.`,
        };
  };
}

const NO_VAULT = { active: false, reason: 'The trap is in no vault of an agent.' };
const UNWATCHED = { active: false, reason: 'No sensor watches a file with the trap.' };

const HOUR_MS = 60 * 60_000;
/** Time without reports after which a channel no longer counts as active. */
const SILENT_MS = { aws_cloudtrail: 24 * HOUR_MS, aws_last_used: HOUR_MS };

interface Known {
  origin: Origin;
  aws: AwsSettings;
  /** Time of the channel's last report. */
  reportedAt: string | null;
  now: Date;
}

/** States whether AWS itself would report a use, and why. */
function awsTruth(channel: keyof typeof SILENT_MS, known: Known): { active: boolean; reason: string } {
  const { origin, reportedAt, now } = known;
  if (origin === 'fabricated')
    return {
      active: false,
      reason:
        'A use of this fabricated key against the real AWS cannot be detected: AWS does not log requests with credentials that do not exist.',
    };
  const active = reportedAt !== null && now.getTime() - Date.parse(reportedAt) <= SILENT_MS[channel];
  return { active, reason: channel === 'aws_cloudtrail' ? cloudTrail(known, active) : lastUsed(known, active) };
}

function cloudTrail({ aws: { trail }, reportedAt }: Known, active: boolean): string {
  if (active) return `CloudTrail events are arriving, most recently at ${reportedAt}.`;
  const since = reportedAt === null ? 'never arrived' : `last arrived at ${reportedAt}`;
  return trail === null
    ? `CloudTrail events ${since}: set the bucket of a trail under cloudtrail in the settings, or send events to POST /events/cloudtrail.`
    : `CloudTrail events ${since}: check that the trail writes to the bucket "${trail.bucket}", and that the job that reads it succeeds.`;
}

function lastUsed({ aws: { iam }, reportedAt }: Known, active: boolean): string {
  if (iam === null) return 'IAM is not queried for the last use of the key: the settings have no aws.';
  return active
    ? `IAM is queried for the last use of the key every ten minutes, and last answered at ${reportedAt}.`
    : 'IAM has not answered queries for the last use of keys in the last hour.';
}

import type { AwsSettings } from './aws/settings.ts';
import { awsTruth } from './aws/truth.ts';
import type { FileWatches } from './bait.ts';
import type { DecoyPlace } from './decoys/decoy.ts';
import type { Channel } from './enums.ts';
import type { ChannelTruth } from './trap-wire.ts';

export interface ChannelsDeps {
  /** The decoys that listen here. */
  places: () => readonly DecoyPlace[];
  aws: AwsSettings;
  /** When channels of others last told anything. */
  reports: () => Promise<ReadonlyMap<Channel, string>>;
  /** Watches by agents on endpoints and by the vaults of AI agents. */
  watches: FileWatches;
  clock: () => Date;
}

/** Says of each channel of a trap whether it would see a use now, and why. */
export async function channelTruthOf({ places, aws, reports, watches, clock }: ChannelsDeps): Promise<ChannelTruth> {
  const [reported, watched, now] = [await reports(), await watches(), clock()];
  return ({ credential_id, credential_type, decoy, origin }, channel) => {
    if (channel === 'file_read') return watched.get(credential_id) ?? UNWATCHED;
    if (channel === 'vault_read' || channel === 'tool_call') return watched.get(credential_id) ?? NO_VAULT;
    if (channel === 'aws_cloudtrail' || channel === 'aws_last_used')
      return awsTruth(channel, { origin, aws, reportedAt: reported.get(channel) ?? null, now });
    if (decoy === null)
      return credential_type === 'web_bug'
        ? { active: true, reason: 'The platform itself takes the call.' }
        : { active: false, reason: 'It leads to no decoy.' };
    return places().some(({ name }) => name === decoy)
      ? { active: true, reason: `The decoy "${decoy}" listens.` }
      : {
          active: false,
          reason: `The decoy "${decoy}" is not in the settings any more: put it back, or rotate the trap.`,
        };
  };
}

const NO_VAULT = { active: false, reason: 'No vault of an agent has it.' };
const UNWATCHED = { active: false, reason: 'No agent watches a file that has it.' };

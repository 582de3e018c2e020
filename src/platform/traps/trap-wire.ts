import { pick } from '../database/table.ts';
import type { Channel } from './enums.ts';
import type { Trap } from './repository.ts';
import { statusOf } from './rules.ts';
import type { KeptCredential } from './vault.ts';
import type { WireTrap } from './wire.ts';

/** States whether a channel would detect a use of a trap now, and why. */
export type ChannelTruth = (trap: Trap, channel: Channel) => { active: boolean; reason: string };

interface TrapView {
  kept: KeptCredential;
  proofs: readonly { channel: Channel; proved_at: string }[];
  now: Date;
  channelTruth: ChannelTruth;
}

export function trapToWire(trap: Trap, { kept, proofs, now, channelTruth }: TrapView): WireTrap {
  return {
    ...pick(trap, [
      'credential_id',
      'credential_type',
      'plant_location',
      'label',
      'origin',
      'decoy',
      'detection_count',
    ]),
    ...pick(trap, ['last_detected_at', 'created_at', 'planted_at', 'confirmed_at', 'rotated_at', 'rotated_from']),
    expires_at: trap.expires_at,
    status: statusOf(trap, now),
    known_as: kept.known_as,
    detection_channels: kept.channels.map((channel) => ({
      channel,
      ...channelTruth({ ...trap, decoy: decoyOf(channel, trap, kept) }, channel),
      last_proved_at: proofs.find((proof) => proof.channel === channel)?.proved_at ?? null,
    })),
  };
}

/** Returns the decoy at which a channel detects a use. */
function decoyOf(channel: Channel, { decoy }: Trap, { parts }: KeptCredential): string | null {
  return parts.find(({ channels }) => channels.includes(channel))?.decoy ?? decoy;
}

import { placeToWire } from '../audit/api.ts';
import { type Channel, TRAPS_STREAM } from './enums.ts';
import type { Detection, Trap } from './repository.ts';
import { statusOf } from './rules.ts';
import type { KeptCredential } from './vault.ts';
import type { WireDetection, WireTrap } from './wire.ts';

/** Says if a channel would see a use of a trap now, and why. */
export type ChannelTruth = (trap: Trap, channel: Channel) => { active: boolean; reason: string };

export interface TrapView {
  kept: KeptCredential;
  proofs: readonly { channel: Channel; proved_at: string }[];
  now: Date;
  channelTruth: ChannelTruth;
}

export function trapToWire(trap: Trap, { kept, proofs, now, channelTruth }: TrapView): WireTrap {
  const { trap_no: _, secret: __, triggered_at: ___, revoked_at: ____, ...shown } = trap;
  return {
    ...shown,
    status: statusOf(trap, now),
    known_as: kept.known_as,
    detection_channels: kept.channels.map((channel) => ({
      channel,
      ...channelTruth({ ...trap, decoy: decoyOf(channel, trap, kept) }, channel),
      last_proved_at: proofs.find((proof) => proof.channel === channel)?.proved_at ?? null,
    })),
  };
}

/** The place to which a use must go for a channel to see it. */
function decoyOf(channel: Channel, { decoy }: Trap, { parts }: KeptCredential): string | null {
  return parts.find(({ channels }) => channels.includes(channel))?.decoy ?? decoy;
}

/** A detection with what it says of its trap. */
export function detectionToWire(
  detection: Detection,
  trap: Pick<Trap, 'credential_id' | 'credential_type' | 'plant_location' | 'label' | 'planted_at' | 'created_at'>,
): WireDetection {
  const { detection_no: _, change_no: __, trap_no: ___, group_key: ____, settled_at: _____, ...rest } = detection;
  const { alert_state, alert_attempts, entry_sequence, entry_hash, auth_verified, ...shown } = rest;
  const { credential_id, credential_type, plant_location, label, planted_at, created_at } = trap;
  return {
    ...shown,
    credential_id,
    credential_type,
    plant_location,
    label,
    auth_verified: auth_verified === null ? null : auth_verified === 1,
    // It cannot have got out before it was there.
    leaked_between: [planted_at ?? created_at, detection.first_seen],
    alert: { state: alert_state, attempts: alert_attempts },
    entry: placeToWire(TRAPS_STREAM, { entry_sequence, entry_hash }),
  };
}

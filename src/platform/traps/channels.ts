import type { DecoyPlace } from './decoys/decoy.ts';
import type { ChannelTruth } from './wire.ts';

export interface ChannelsMeans {
  /** The decoys that listen here. */
  places: () => readonly DecoyPlace[];
}

/** Says of each channel of a trap whether it would see a use now, and why. */
export function channelTruthOf({ places }: ChannelsMeans): ChannelTruth {
  return ({ credential_type, decoy }, _channel) => {
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

import { z } from 'zod';
import type { ServiceSettings } from '../module.ts';

/** Times of promotion and idleness. */
export interface TrustTimes {
  /** Days from onboarding or reinstatement until TRUSTED can be reached. */
  trustedAfterDays: number;
  /** Further days until VERIFIED can be reached. */
  verifiedAfterDays: number;
  /** Days without an attested action after which the score falls to the floor of its tier. */
  idleDays: number;
}

export const TRUST_TIMES: TrustTimes = { trustedAfterDays: 7, verifiedAfterDays: 14, idleDays: 30 };

const days = z.int().min(0).max(3650);

/** Settings of agents in the settings file. */
const agentsFileSchema = z.strictObject({
  trusted_after_days: days.optional(),
  verified_after_days: days.optional(),
  idle_days: days.min(1).optional(),
});

function toTrustTimes(file: z.output<typeof agentsFileSchema> = {}): TrustTimes {
  return {
    trustedAfterDays: file.trusted_after_days ?? TRUST_TIMES.trustedAfterDays,
    verifiedAfterDays: file.verified_after_days ?? TRUST_TIMES.verifiedAfterDays,
    idleDays: file.idle_days ?? TRUST_TIMES.idleDays,
  };
}

export const AGENT_SETTINGS = {
  file: { agents: agentsFileSchema.optional() },
  toOptions: ({ agents }: { agents?: z.output<typeof agentsFileSchema> }) => ({ trustTimes: toTrustTimes(agents) }),
  inForce({ trustTimes = TRUST_TIMES }: { trustTimes?: TrustTimes }) {
    const { trustedAfterDays, verifiedAfterDays, idleDays } = trustTimes;
    const times = `TRUSTED after ${trustedAfterDays} days, VERIFIED after ${verifiedAfterDays} more, idle after ${idleDays}`;
    return [['agents', times]];
  },
} satisfies ServiceSettings;

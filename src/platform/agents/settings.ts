/** How long promotion takes, and how long somebody may be idle. */
export interface TrustTimes {
  /** From onboarding or reinstatement on, until TRUSTED can be reached. */
  trustedAfterDays: number;
  /** From then on, until VERIFIED can be reached. */
  verifiedAfterDays: number;
  /** Without an attested action, after which the score falls to the floor of its tier. */
  idleDays: number;
}

export const TRUST_TIMES: TrustTimes = { trustedAfterDays: 7, verifiedAfterDays: 14, idleDays: 30 };

/** The validity of everything issued to an agent. */
export const LEAF_DAYS = 365;
/** The validity of a generation of the platform's keys. */
export const KEY_YEARS = 10;
/** The time from the publication of the next generation to its first use. */
export const LEAD_DAYS = 365;
/** The most that a verifier's clock may be slow. */
export const CLOCK_SKEW_MS = 60_000;
/** For how long a list of revoked certificates or passports may stand for the next one, where that cannot be had. */
export const LIST_SECONDS = 86_400;
/** For how long a list of passports is as good as a new one. */
export const LIST_FRESH_SECONDS = 60;

import { asReadBack, type ReportedVerdict, withRecorded } from '../claims/recorded.ts';
import type { VerifiedBundle } from './content.ts';

/** Nobody vouches for what a bundle says that the service said. */
export const NOT_VOUCHED = 'nothing here shows that the service said so';
const WITHOUT_RUNS = 'the earlier runs are not here to compare with';

/** The verdict on a bundle that is verified by itself; null where it holds nothing to judge. */
export function reportAlone({ judged }: VerifiedBundle): ReportedVerdict | null {
  if (judged === null) return null;
  const { verdict, stated, required } = judged;
  const reported = withRecorded(verdict, stated.verdict);
  return asReadBack(reported, { continuity: WITHOUT_RUNS, completeness: NOT_VOUCHED }, required);
}

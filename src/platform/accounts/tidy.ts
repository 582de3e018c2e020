import type { Database } from '../database/database.ts';
import type { Job } from '../jobs/scheduler.ts';
import { forgetChallenges } from './challenges.ts';
import { forgetLinks } from './links.ts';
import { forgetSessions } from './sessions.ts';
import { forgetAttempts } from './throttle.ts';

const TIDY_MS = 60 * 60_000;

/** Removes links, sessions, challenges and counted attempts that are no good any more. */
export function accountsTidyJob(database: Database, clock: () => Date): Job {
  return {
    name: 'accounts/tidy',
    everyMs: TIDY_MS,
    atMostMs: TIDY_MS,
    run: () =>
      database.write(async (transaction) => {
        for (const forget of [forgetLinks, forgetSessions, forgetAttempts, forgetChallenges])
          await forget(transaction, clock());
      }),
  };
}

import { slugOf } from '../../verifier/bundle/layout.ts';
import { streamSlugOf } from '../../verifier/records/keys.ts';
import type { HandedOut } from '../export/context.ts';
import type { QueueDatabase } from './database.ts';
import type { HandedRun } from './run-queue.ts';
import { readOutcome, readRecorded } from './tasks.ts';

/** Returns access to the outcomes that workers recorded for an attempt's streams. */
export function endedStreams(
  { schema, query }: Pick<QueueDatabase, 'query' | 'schema'>,
  { runId, startedAt }: Pick<HandedRun, 'runId' | 'startedAt'>,
): HandedOut {
  const outcomeOf = async (slug: string) => {
    const [row] = await query<{ outcome: string | null }>(
      `SELECT outcome FROM ${schema}.streams WHERE run_id = $1 AND slug = $2`,
      [runId, slug],
    );
    return row?.outcome ?? null;
  };
  return {
    startedAt,
    outcomeOf: async ({ streamId }) => {
      const outcome = await outcomeOf(slugOf(streamId));
      return outcome === null ? null : readOutcome(outcome);
    },
    recordedAs: async ({ key, sha256 }) => {
      const outcome = await outcomeOf(streamSlugOf(key) ?? '');
      const recorded = outcome === null ? null : readRecorded(outcome);
      return recorded?.sha256 === sha256 ? recorded : null;
    },
  };
}

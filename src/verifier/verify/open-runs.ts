import { shellWord } from '../../core/shell.ts';
import type { GivenUp } from '../ledger/given-up.ts';
import { runIdOf, runRecordKey } from '../records/keys.ts';
import type { Outcome } from '../records/outcome.ts';
import type { ArchiveReading } from './archive-reading.ts';
import type { InScope } from './ledger.ts';

/** A run that is no evidence yet, or will never be. */
export interface OpenRun {
  run_id: string;
  /** `begun`: not finalized. `unrecorded`: finalized, and in no ledger entry. The other two were given up. */
  state: 'begun' | 'unrecorded' | GivenUp['kind'];
  message: string;
  /** Null where nothing needs to be done. */
  next_step: string | null;
}

const GO_ON =
  'Whoever exports goes on with it by the same export command, which exports a revision where it cannot; if nobody will, they record that with';

/** Runs that no verdict rests on. The archive is incomplete until each of them is finished or given up. */
export function openRunsIn(
  { keys, checks, givenUp, statedOutcomes }: Pick<ArchiveReading, 'keys' | 'checks' | 'givenUp' | 'statedOutcomes'>,
  inScope: InScope,
): OpenRun[] {
  const there = new Set([...keys].map(runIdOf).filter((runId): runId is string => runId !== null));
  const unrecorded = new Set(checks.filter(({ isRecorded }) => !isRecorded).map(({ runId }) => runId));
  return [...there]
    .filter(inScope)
    .sort()
    .flatMap((runId): OpenRun[] => {
      const end = givenUp.get(runId);
      if (end !== undefined)
        return [
          {
            run_id: runId,
            state: end.kind,
            message: sayGivenUp(runId, end, statedOutcomes.get(runId)),
            next_step: null,
          },
        ];
      const state = unrecorded.has(runId) ? 'unrecorded' : keys.has(runRecordKey(runId)) ? null : 'begun';
      if (state === null) return [];
      const next_step = `${GO_ON}: evidence runs abandon ${shellWord(runId)} --reason WHY.`;
      return [{ run_id: runId, state, message: sayOpen(runId, state), next_step }];
    });
}

function sayOpen(runId: string, state: 'begun' | 'unrecorded'): string {
  if (state === 'begun') return `Run ${runId} was begun but not finalized: nothing of it was looked at.`;
  return `Run ${runId} is finalized, and no ledger entry records it: its export was interrupted or still runs, or its entry was cut from the end of the ledger. It counts as unfinished.`;
}

function sayGivenUp(runId: string, end: GivenUp, outcome: Outcome | undefined): string {
  const fate =
    end.kind === 'superseded'
      ? `was not finished, and run ${end.by} takes its place`
      : `was abandoned at ${end.at} by ${end.by}: ${end.reason}`;
  const stated = outcome === undefined ? '' : ` It was finalized, and its record states the outcome ${outcome}.`;
  const nothing = stated === '' ? 'Nothing' : 'Nothing else';
  return `Run ${runId} ${fate}.${stated} ${nothing} of it was looked at: it is no evidence.`;
}

/** True for a run that keeps an archive from being verified. */
export function isUnfinished({ state }: OpenRun): boolean {
  return state === 'begun' || state === 'unrecorded';
}

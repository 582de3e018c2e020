import { EvidenceError } from '../../core/errors.ts';
import type { Rows } from '../../core/rows/rows.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import { bundleKey, runDraftKey, streamRecordKey, streamSlugOf } from '../../verifier/records/keys.ts';
import { readFinalizedRun } from '../../verifier/records/stored-run.ts';
import { beginningOf, beginRun, boundToBeginning } from './asked.ts';
import type { ExportContext } from './context.ts';
import { listRun } from './leftovers.ts';
import { closePacking, findRun, listInScope, toState } from './open-run.ts';
import { refuseUnended } from './period.ts';
import type { ListedStream } from './plan.ts';
import { ServiceReach } from './service-reach.ts';
import { exportStream, finishedElsewhere } from './stream.ts';
import type { StreamOutcome } from './stream-jobs.ts';

/** Streams of a run that are to be handed out to workers. */
export interface Plan {
  startedAt: Date;
  streams: Rows<ListedStream>;
  excluded: number;
  /** Slugs of streams of which an earlier attempt left something. */
  left: ReadonlySet<string>;
}

/**
 * Plans a run for workers: lists the streams and begins the run.
 * @param handOut receives the plan.
 * @returns false if there is nothing to hand out: the run is finalized or frozen, or no stream is in scope.
 * @throws EvidenceError `usage` if the service delivers all streams in one package.
 */
export async function planRun(context: ExportContext, handOut: (plan: Plan) => Promise<void>): Promise<boolean> {
  const { archive, question, runtime, service } = context;
  if (service.contract.scope === 'account')
    throw new EvidenceError(
      'usage',
      'the service delivers all streams in one package, which only one machine can receive',
      {
        nextStep: 'Nothing was started. Export without --distributed.',
      },
    );
  const objects = await listRun(archive, question.run_id);
  if ((await readFinalizedRun(archive, question.run_id)) !== null) return false;
  const found = await findRun(context, objects);
  if (found.frozen !== null) return false;
  const at = runtime.now();
  const { selection, clock } = await listInScope(context);
  refuseUnended(question.period, clock);
  if (selection.included.length === 0) return false;
  if (found.begun === null) await beginRun(context, { at, byService: clock?.theirs ?? null }, found.ledger.newest);
  const left = new Set(objects.flatMap(({ key }) => streamSlugOf(key) ?? []));
  await handOut({ startedAt: at, streams: selection.included, excluded: selection.excluded.length, left });
  return true;
}

/** Exports streams of a run that another machine has begun. */
export interface JoinedRun {
  /**
   * Exports a stream.
   * @param mayBeLeft another attempt or worker may have left something of the stream; if so, that is resumed.
   * @throws EvidenceError if the archive or this machine fails; the stream is then still open.
   */
  export(stream: ListedStream, mayBeLeft: boolean): Promise<StreamOutcome>;
  close(): Promise<void>;
}

/**
 * Joins a run that another machine has begun.
 * @param startedAt time at which the attempt was planned.
 * @throws EvidenceError `not-found` if the archive does not contain the run.
 */
export async function joinRun(unbound: ExportContext, startedAt: Date): Promise<JoinedRun> {
  const { question } = unbound;
  const found = await findRun(unbound, []);
  if (found.begun === null)
    throw new EvidenceError('not-found', `the archive of this worker does not contain run ${question.run_id}`, {
      nextStep: 'Nothing was done. Configure the worker with the archive in which the run was started.',
    });
  const context = await boundToBeginning(unbound, found.begun);
  const beginning = beginningOf(found.begun.asked);
  const run = await toState(context, found, { beginning, start: { at: startedAt, clock: null } }, []);
  const reach = new ServiceReach(context);
  return {
    export: async (stream, mayBeLeft) => {
      const { run_id: runId } = question;
      if ((await context.archive.stat(runDraftKey(runId))) !== null) throw finishedElsewhere(runId);
      const left = mayBeLeft ? await resumeStream(context, stream) : null;
      return left ?? reach.exportWithin(stream, () => exportStream(context, run, stream));
    },
    close: () => closePacking(run),
  };
}

/** Resumes a stream from what is left of it; null if nothing is left. */
async function resumeStream(context: ExportContext, stream: ListedStream): Promise<StreamOutcome | null> {
  const { archive, question, runtime } = context;
  const slug = slugOf(stream.streamId);
  const objects: StoredObject[] = [];
  for await (const object of archive.list(bundleKey(question.run_id, slug))) objects.push(object);
  const { leftStreams, resumeLeft } = await import('./resume.ts');
  const left = [...leftStreams(context, objects)].find(
    ({ recordKey }) => recordKey === streamRecordKey(question.run_id, slug),
  );
  if (left === undefined) return null;
  const find = (streamId: string) => (streamId === stream.streamId ? stream : undefined);
  const listed = { find, readAt: runtime.now().toISOString() };
  return resumeLeft(context, left, listed);
}

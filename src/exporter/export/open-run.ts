import type { Rows } from '../../core/rows/rows.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { endReading } from '../../verifier/pdf-text/reader.ts';
import type { StreamList } from '../../verifier/records/record.ts';
import { type ClockReading, readClock } from '../clocks.ts';
import { type KnownLedger, readKnownLedger } from '../ledger/continuation.ts';
import { collectAccount } from './account.ts';
import { type BegunRun, checkSameService, readBegun } from './asked.ts';
import type { ExportContext, RunState } from './context.ts';
import { refuseForeign, refuseUnasked } from './leftovers.ts';
import { endPacking, Packing } from './packing.ts';
import { type ListedStream, type StreamSelection, selectStreams } from './plan.ts';
import { type FrozenRun, readRunDraft } from './run-draft.ts';
import { readAttempts } from './run-record.ts';

/** Run in the archive that is not finalized. */
export interface FoundRun {
  /** All objects under the run's prefix. */
  objects: Rows<StoredObject>;
  ledger: KnownLedger;
  movedFrom: string | null;
  /** Request of the run; null if the run was not begun. */
  begun: BegunRun | null;
  /** Draft of the run; null if the run was not frozen. */
  frozen: FrozenRun | null;
}

/**
 * Reads what earlier attempts left of a run.
 * @param objects under the run's prefix, listed before anything else of the run was read.
 * @throws EvidenceError `conflict` if they include an object that no attempt of this export leaves.
 */
export async function findRun(context: ExportContext, objects: Rows<StoredObject>): Promise<FoundRun> {
  const { archive, question, signing } = context;
  const ledger = await readKnownLedger(archive, signing);
  const movedFrom = await checkSameService(context, question, ledger.newest);
  const begun = await readBegun(context, question);
  const frozen = await readRunDraft(context, question.run_id);
  refuseForeign(objects, question.run_id, frozen !== null);
  if (begun === null) refuseUnasked(objects);
  return { objects, ledger, movedFrom, begun, frozen };
}

/** Returns the streams that the service lists, the pages of that list, and the service's clock at the first page. */
export async function listInScope({
  service,
  question,
  runtime,
}: ExportContext): Promise<{ selection: StreamSelection; clock: ClockReading | null }> {
  const pages: StreamList['pages'] = [];
  let clock: ClockReading | null = null;
  const listed = service.client.listStreams((page, date) => {
    clock ??= readClock(date, runtime.now());
    pages.push(page);
  });
  return { selection: await selectStreams(listed, question.scope, pages), clock };
}

/** Assembles the fixed state that the jobs of a run share. @param open streams to export. */
export async function toState(
  context: ExportContext,
  { objects, ledger, movedFrom }: Omit<FoundRun, 'begun' | 'frozen'>,
  { beginning, start }: Pick<RunState, 'beginning' | 'start'>,
  open: Rows<ListedStream>,
): Promise<RunState> {
  const run: RunState = {
    beginning,
    start,
    movedFrom,
    ledger,
    past: ledger.past,
    acceptances: ledger.acceptances,
    restarts: ledger.restarts,
    heads: ledger.newest?.entry.heads ?? new Map(),
    attempts: await readAttempts(context, objects),
    account: null,
    packing: new Packing(),
    supplements: null,
    storedSupplements: null,
  };
  if (context.service.contract.scope === 'account') run.account = once(() => collectAccount(context, run, open));
  return run;
}

/** Number of streams above which reports need the memory of idle threads. */
const MANY_STREAMS = 10_000;

/**
 * Ends the threads that worked for a run, or keeps them for the next run of this process if they hold little memory.
 * @param streams number of streams of the run.
 */
export async function closePacking({ packing }: Pick<RunState, 'packing'>, streams = 0): Promise<void> {
  await packing[Symbol.asyncDispose]();
  if (packing.hasPackedMuch || streams > MANY_STREAMS) await Promise.all([endPacking(), endReading()]);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

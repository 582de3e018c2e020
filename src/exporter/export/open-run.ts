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

/** A run that is not finalized, as it lies in the archive. */
export interface FoundRun {
  /** All that lies under it. */
  objects: Rows<StoredObject>;
  ledger: KnownLedger;
  movedFrom: string | null;
  /** Null for one that was not begun. */
  begun: BegunRun | null;
  /** Null for one that was not frozen. */
  frozen: FrozenRun | null;
}

/**
 * Reads what earlier attempts left of a run.
 * @param objects all that lies under it, which was listed before anything else of it was read.
 * @throws EvidenceError `conflict` for what no attempt of this export leaves.
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

/** The streams as the service lists them, with the pages of that list, and what time it is there as the first one comes. */
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

/** Fixes what the jobs of a run share. @param open the streams that are to be exported. */
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

/** The reports of more streams need the memory that idle threads hold. */
const MANY_STREAMS = 10_000;

/**
 * Ends the threads that worked for a run, or keeps them for the next run of this process where they hold little memory.
 * @param streams of the run.
 */
export async function closePacking({ packing }: Pick<RunState, 'packing'>, streams = 0): Promise<void> {
  await packing.close();
  if (packing.hasPackedMuch || streams > MANY_STREAMS) await Promise.all([endPacking(), endReading()]);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

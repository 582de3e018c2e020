import type { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { INCOMPLETE } from '../../../core/terminal/crash.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { readNewestEntry } from '../../../verifier/ledger/ledger.ts';
import type { Archive } from '../../archive/archive.ts';
import { openMemoryArchive } from '../../archive/memory.ts';
import type { Check } from '../../check.ts';
import { type ClockReading, readClock } from '../../clocks.ts';
import { checkSupplements } from '../../doctor/services.ts';
import { checkNewestSeals, checkRoots } from '../../doctor/trust.ts';
import { checkQuestion, whyNotOurs, whyOther } from '../../export/asked.ts';
import { bindingKeysOf } from '../../export/binding.ts';
import { needsListing } from '../../export/listing.ts';
import { refuseUnended } from '../../export/period.ts';
import { type StreamSelection, selectStreams } from '../../export/plan.ts';
import { chooseRunId, exportOrRevise } from '../../export/run-id.ts';
import { readKnownLedger } from '../../ledger/continuation.ts';
import { readArchiveService } from '../../ledger/service.ts';
import type { CommandContext } from '../command.ts';
import type { Footing } from '../config/footing.ts';
import { storeOf, withArchiveIfAny } from '../config/stores.ts';
import { MORE_ROOM, reckonRoom } from '../config/work-directory.ts';
import { type ExportOptions, questionOf } from './export-options.ts';

/** Prints what an export would do, and checks all that the export would check before writing. Writes nothing. */
export async function dryRun(options: ExportOptions, footing: Footing, context: CommandContext): Promise<number> {
  const { config, answer } = options;
  const { printer } = context;
  await storeOf(config.archive.url).checkForWriting(config.archive, context);
  const { runId, isFinalized, movedFrom } = await withArchiveIfAny(config.archive, context, (archive) =>
    checkRun(options, footing, archive ?? openMemoryArchive()),
  );
  const shown = await askBeforehand(options, footing);
  refuseUnended(answer.period, shown.clock);
  const { included, excluded } = shown.selection;
  const streams = included.map(({ streamId }) => streamId);
  printer.document('evidence-export-dry-run/1', {
    dry_run: true,
    run_id: runId,
    period: answer.period,
    finalized: isFinalized,
    streams,
    excluded,
    moved_from: movedFrom,
    supplements: shown.supplements,
  });
  printer.result(`Run ${runId}: ${describePeriod(answer.period)}`);
  if (isFinalized) printer.result('This run is finalized; without --revise, nothing would be exported.');
  if (movedFrom !== null)
    printer.result(
      `The archive would record permanently that its service moved here from ${movedFrom} (--service-moved).`,
    );
  printPlan(shown.selection, isFinalized ? 'With --revise, ' : '', options, footing, printer);
  const code = printShown(shown, printer);
  printer.result('Nothing was written.');
  return code;
}

/** Answers of the service before an export. */
export interface ShownByService {
  clock: ClockReading | null;
  selection: StreamSelection;
  /** Refusal of the service's own check of streams for this key; null if the key may use it. */
  unchecked: EvidenceError | null;
  /** Checks for required claims. */
  claims: Check[];
  supplements: Check[];
}

/**
 * Requests everything that an export needs from the service, except packages.
 * @throws EvidenceError `refused` if the key may not export; as the client does.
 */
export async function askBeforehand(
  { scope, answer, service: { client, contract, supplements } }: Pick<ExportOptions, 'scope' | 'answer' | 'service'>,
  { sealKeys, roots }: Pick<Footing, 'sealKeys' | 'roots'>,
): Promise<ShownByService> {
  let clock: ClockReading | null = null;
  const listed = client.listStreams((_page, date) => {
    clock ??= readClock(date, new Date());
  });
  const selection = await selectStreams(listed, scope);
  const { included } = selection;
  const unchecked = await client.tryRights(included.at(0)?.streamId ?? null, needsListing(scope, answer.period));
  const compared = { contract: contract.contract, given: sealKeys };
  const { required_claims: required } = scope;
  const claims = [checkRoots(roots, required)];
  if (required.includes('seal')) claims.push(await checkNewestSeals(client, included, compared));
  return {
    clock,
    selection,
    unchecked,
    claims,
    supplements: supplements === null ? [] : await checkSupplements(supplements),
  };
}

/** Prints what would keep an export from being complete, and returns its exit code. */
export function printShown({ selection, unchecked, claims, supplements }: ShownByService, printer: Printer): number {
  if (unchecked !== null) printer.result(`The service's own check would not be recorded: ${unchecked.message}`);
  for (const check of supplements) printSupplement(check, printer);
  const unproved = claims.filter(({ state }) => state === 'failed');
  for (const { says, next_step } of unproved) printer.result(`The run would not be verified: ${says} → ${next_step}`);
  const drifted = selection.included.filter(({ drift }) => drift !== null);
  for (const { streamId, drift } of drifted) printer.result(`${streamId} could not be exported: ${drift}`);
  if (selection.included.length === 0) return 4;
  const isLacking = [...unproved, ...drifted].length > 0 || supplements.some(({ state }) => state === 'failed');
  return isLacking ? INCOMPLETE : 0;
}

function printSupplement({ name, state, says, next_step }: Check, printer: Printer): void {
  if (state === 'ok') printer.result(`The supplement of ${name} would be collected.`);
  else printer.result(`The supplement of ${name} could not be collected: ${says} → ${next_step}`);
}

/**
 * Refuses what an export would refuse. A revision gets another id if necessary. The ledger is read as an export reads
 * it, because an export does not continue an unsigned ledger with a signed entry.
 */
export async function checkRun(
  options: ExportOptions,
  footing: Footing,
  archive: Archive,
): Promise<{ runId: string; isFinalized: boolean; movedFrom: string | null }> {
  const { config, answer, revise, serviceMoved, beginSigning } = options;
  const keyFor = bindingKeysOf({ signingKey: footing.signingKey, apiKey: config.source.apiKey ?? '' });
  const asker = { archive, binding: { keyFor }, service: { isMoved: serviceMoved } };
  const check = async (runId: string) => {
    const isFinalized = (await checkQuestion(asker, questionOf(options, runId))) !== null;
    if (!isFinalized) await readKnownLedger(archive, { ...footing, beginSigning });
    const isMoving = serviceMoved && !isFinalized;
    const movedFrom = isMoving ? await readArchiveService(archive, await readNewestEntry(archive)) : null;
    return { runId, isFinalized, movedFrom };
  };
  const revision = {
    archive,
    revise,
    whyOther: (runId: string) => whyOther(asker, questionOf(options, runId)),
    whyNotOurs: (runId: string) => whyNotOurs(asker, questionOf(options, runId)),
    onBlocked: () => undefined,
  };
  return exportOrRevise(revision, await chooseRunId(archive, answer), check);
}

function printPlan(
  { included, excluded }: StreamSelection,
  condition: string,
  { config }: ExportOptions,
  footing: Footing,
  printer: Printer,
): void {
  printer.result(`${condition}${plural(included.length, 'stream')} would be exported to ${config.archive.url}:`);
  for (const { streamId } of included) printer.result(`  ${streamId}`);
  if (excluded.length > 0) printer.result(`${excluded.length} would be left out.`);
  const counts = included.map(({ entryCount }) => entryCount);
  const room = reckonRoom(config, footing.workDirectory, counts);
  printer.result(`Work directory: ${room.says}.`);
  if (room.isShort) printer.result(MORE_ROOM);
}

// Over 250 lines: it finds the missing months, and exports or previews them.

import { whereDefined } from '../../../core/defined.ts';
import { type ErrorCode, EvidenceError, isEvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { exitCodeOf } from '../../../core/terminal/exit.ts';
import { revisionOf } from '../../../verifier/ledger/given-up.ts';
import type { Past } from '../../../verifier/ledger/past.ts';
import { type CoveredMonth, coverMonth, coverMonths } from '../../../verifier/records/coverage.ts';
import { describeMonth, toMonthReport } from '../../../verifier/records/month-report.ts';
import { lastEndedMonth, monthOf } from '../../../verifier/records/months.ts';
import { filterOf } from '../../../verifier/records/question.ts';
import type { Archive } from '../../archive/archive.ts';
import { openMemoryArchive } from '../../archive/memory.ts';
import { type PeriodAnswer, refuseUnended, resolvePeriod } from '../../export/period.ts';
import type { ExportResult } from '../../export/run.ts';
import { findOpenRuns, isBegun } from '../../export/run-id.ts';
import { findGrownMonths } from '../../export/unfetched.ts';
import { readKnownLedger } from '../../ledger/continuation.ts';
import type { CommandContext } from '../command.ts';
import type { Footing } from '../config/footing.ts';
import { storeOf, withArchiveIfAny } from '../config/stores.ts';
import { endOf, printRun, toRunDocument } from '../output/run-report.ts';
import { askBeforehand, checkRun, printShown, type ShownByService } from './dry-run.ts';
import type { ExportOptions } from './export-options.ts';
import type { FlagsOf } from './flags-of.ts';

/** Month to export. */
interface MissingMonth {
  month: string;
  runId: string;
  /** Description of what the archive has of the month. */
  has: string;
  isBegun: boolean;
  /** The month was exported completely but has more entries now, so a revision is exported. */
  isGrown: boolean;
  /** A revision would have a gap, so the month is reported but not exported. */
  isOutOfPlace: boolean;
}

/** Options for exporting each month. */
interface MissingOptions extends Omit<ExportOptions, 'answer'> {
  footing: Footing;
  /** @param isFirst true for the first month, to which one-time flags apply. */
  exportMonth: (answer: PeriodAnswer, how: { isFirst: boolean; revise: boolean }) => Promise<ExportResult>;
}

/** Exit codes of months that need no further attempt. */
const WELL: ReadonlySet<number> = new Set([0, 4]);

/** Errors that would also affect every other month: of the service, the store or this machine. */
const ENDS_ALL: ReadonlySet<ErrorCode> = new Set([
  'unreachable',
  'refused',
  'store-refused',
  'archive',
  'work-directory',
  'output',
  'interrupted',
]);

/** Result of a month. */
interface Tried {
  month: string;
  exit_code: number;
  /** Result of the export; null if the export ended with an error. */
  result: ExportResult | null;
}

/**
 * Exports every month that the archive does not have completely or that has more entries now, one after another. A
 * failing month does not keep the others from being exported, and decides the exit code.
 */
export async function exportMissing(
  options: MissingOptions,
  flags: FlagsOf<'export'>,
  context: CommandContext,
): Promise<number> {
  refuseOtherPeriods(flags);
  const { printer, signal } = context;
  const { url: archiveUrl } = options.config.archive;
  const missing = await findMissing(options, context);
  if (flags['dry-run'] === true) return list(missing, options, context);
  const tried: Tried[] = [];
  for (const [index, missingMonth] of missing.entries()) {
    signal.throwIfAborted();
    const exportIt = () => exportOne(options, missingMonth, index === 0, context);
    tried.push(await ofMonth(missing, index, 'exported', exportIt));
  }
  const exitCode = worstCode(tried.map(({ exit_code }) => exit_code));
  if (missing.length === 0) printer.result('No month is missing.');
  const left = tried.filter(({ exit_code }) => !WELL.has(exit_code));
  if (left.length > 0)
    printer.result(`Failed: ${left.map((one) => `${one.month} (exit code ${one.exit_code})`).join(', ')}.`);
  const runs = tried.flatMap(({ result }) => (result === null ? [] : [toRunDocument(result, archiveUrl)]));
  const failed = left.map(toFailed);
  printer.document('evidence-export-missing/1', { exit_code: exitCode, archive: archiveUrl, runs, failed });
  return exitCode;
}

/** @throws EvidenceError for errors that would affect every other month too. */
async function exportOne(
  options: MissingOptions,
  missing: MissingMonth,
  isFirst: boolean,
  context: CommandContext,
): Promise<Tried> {
  const { printer } = context;
  const { month, isGrown } = missing;
  return orFailed(month, 'not exported', context, async () => {
    refuseOutOfPlace(missing);
    const result = await options.exportMonth(answerOf(options, month), { isFirst, revise: isGrown });
    printLine(result, context);
    const { exit_code } = endOf(result);
    if (!WELL.has(exit_code)) printRun(result, options.config.archive.url, printer);
    return { month, exit_code, result };
  });
}

/** @throws EvidenceError for errors that would affect every other month too. */
async function orFailed(
  month: string,
  how: string,
  { printer }: CommandContext,
  work: () => Promise<Tried>,
): Promise<Tried> {
  try {
    return await work();
  } catch (error) {
    if (!isEvidenceError(error) || ENDS_ALL.has(error.code)) throw error;
    const exit_code = exitCodeOf(error.code);
    printer.result(`Month ${month}: ${how} (exit code ${exit_code}): ${error.message}`);
    if (error.nextStep !== undefined) printer.result(`  ${error.nextStep}`);
    return { month, exit_code, result: null };
  }
}

/** @throws EvidenceError `conflict` if a revision of the month would have a gap. */
function refuseOutOfPlace({ has, isOutOfPlace }: MissingMonth): void {
  if (!isOutOfPlace) return;
  throw new EvidenceError('conflict', `${has}, with entries of other months in between`, {
    nextStep: 'Export the whole stream with: evidence export --all-time. Then run the same command again.',
  });
}

function toFailed({ month, exit_code }: Tried): Pick<Tried, 'month' | 'exit_code'> {
  return { month, exit_code };
}

/**
 * Returns the combined exit code: refuted outweighs other failures, which outweigh success; 4 only if all months are
 * empty.
 */
function worstCode(codes: readonly number[]): number {
  if (codes.includes(1)) return 1;
  return codes.find((code) => !WELL.has(code)) ?? (codes.length > 0 && codes.every((code) => code === 4) ? 4 : 0);
}

function refuseOtherPeriods(flags: FlagsOf<'export'>): void {
  const others = (['period', 'from', 'to', 'all-time', 'request', 'revise'] as const).filter(
    (name) => flags[name] !== undefined && flags[name] !== false,
  );
  if (others.length > 0)
    throw new EvidenceError(
      'usage',
      `--missing selects the months to export and cannot be combined with --${others.join(', --')}`,
      {
        nextStep: 'Use one or the other.',
      },
    );
}

/**
 * Returns months that have grown first, because other months stay open until they are exported; then begun months, then
 * the others, oldest first. For an archive without any run, returns the last month that has ended.
 */
async function findMissing(options: MissingOptions, context: CommandContext): Promise<MissingMonth[]> {
  const now = new Date();
  const last = lastEndedMonth(now);
  const nothing = coverMonth(last, []);
  return withArchiveIfAny(options.config.archive, context, async (archive) => {
    if (archive === null) return [await toMissing(options, null, nothing)];
    const { past } = await readKnownLedger(archive, { ...options.footing, beginSigning: options.beginSigning });
    const begun = await findBegunMonths(options, archive);
    const covered = coverMonths(past.coverage, now, filterOf(options.scope), begun[0] ?? null);
    const months = past.coverage.length === 0 && begun.length === 0 ? [nothing] : covered;
    const found: MissingMonth[] = [];
    for (const month of months)
      if (month.state !== 'whole' || begun.includes(month.month)) found.push(await toMissing(options, archive, month));
    // A missing month whose run id is already taken would lack the same again, so it is not exported.
    const left = found
      .filter(({ runId }) => !past.runs.has(runId))
      .sort((a, b) => Number(b.isBegun) - Number(a.isBegun));
    return [...(await findGrown(options, past, left)), ...left];
  });
}

/** Returns the months whose run or a revision of it was begun and neither finalized nor given up, earliest first. */
async function findBegunMonths(options: MissingOptions, archive: Archive): Promise<string[]> {
  const last = lastEndedMonth(new Date());
  const monthOfRun = (runId: string) => {
    const month = monthOf(runId);
    const isEnded = month !== null && month <= last;
    return isEnded && answerOf(options, month).runId === revisionOf(runId).base ? month : null;
  };
  const open = await findOpenRuns(archive, '', (runId) => monthOfRun(runId) !== null);
  return open.flatMap((runId) => monthOfRun(runId) ?? []).sort();
}

async function findGrown(
  { config, scope, service }: MissingOptions,
  past: Past,
  left: readonly MissingMonth[],
): Promise<MissingMonth[]> {
  const { client, contract } = service;
  const { concurrency } = config.source;
  const grown = await findGrownMonths({ service: { client, contract: contract.contract }, scope, past, concurrency });
  return [...grown]
    .filter(([month]) => left.every((one) => one.month !== month))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([month, { streams, isOutOfPlace }]) => ({
      month,
      runId: answerOf({ scope }, month).runId,
      isBegun: false,
      isGrown: true,
      isOutOfPlace,
      has: `${month} has more entries now than were exported, in ${plural(streams.length, 'stream')} (${streams.slice(0, 3).join(', ')}${streams.length > 3 ? ', …' : ''})`,
    }));
}

async function toMissing(
  options: MissingOptions,
  archive: Archive | null,
  covered: CoveredMonth,
): Promise<MissingMonth> {
  const { runId } = answerOf(options, covered.month);
  const begun = archive !== null && (await isBegun(archive, runId));
  const has =
    covered.state === 'whole'
      ? `a run of ${covered.month} was started but not finalized`
      : describeMonth(toMonthReport(covered));
  return { month: covered.month, runId, has, isBegun: begun, isGrown: false, isOutOfPlace: false };
}

function answerOf({ scope: { streams, exclude } }: Pick<MissingOptions, 'scope'>, month: string) {
  return resolvePeriod({ month, streams, exclude }, new Date());
}

/**
 * Adds to an error that ends the work on a month: its name, the months before it, described by `done`, and the months
 * after it.
 */
async function ofMonth<Result>(
  missing: readonly MissingMonth[],
  index: number,
  done: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    const months = missing.map(({ month }) => month);
    const [before, after] = [months.slice(0, index), months.slice(index + 1)];
    const said = [
      `${months[index]}: ${error.message}`,
      ...(before.length === 0 ? [] : [`${done} earlier: ${before.join(', ')}`]),
      ...(after.length === 0 ? [] : [`not attempted: ${after.join(', ')}`]),
    ];
    const { step: nextStep, cause } = error;
    throw new EvidenceError(error.code, said.join('; '), {
      ...whereDefined({ nextStep, cause }),
    });
  }
}

/**
 * Checks everything that the exports would check before writing. Returns the best exit code that they could end with.
 */
async function list(
  missing: readonly MissingMonth[],
  options: MissingOptions,
  context: CommandContext,
): Promise<number> {
  const { config, footing } = options;
  const { printer } = context;
  const document = (failed: readonly Tried[]) =>
    printer.document('evidence-export-missing-dry-run/1', { dry_run: true, missing, failed: failed.map(toFailed) });
  if (missing.length === 0) {
    document([]);
    printer.result('No month is missing.');
    return 0;
  }
  await storeOf(config.archive.url).checkForWriting(config.archive, context);
  const shown = await askBeforehand({ ...options, answer: answerOf(options, lastEndedMonth(new Date())) }, footing);
  const tried = await withArchiveIfAny(config.archive, context, async (archive) => {
    const checked: Tried[] = [];
    for (const [index, one] of missing.entries()) {
      const checkIt = () => checkOne({ ...options, shown, archive: archive ?? openMemoryArchive() }, one, context);
      checked.push(await ofMonth(missing, index, 'would be exported', checkIt));
    }
    return checked;
  });
  const code = printShown(shown, printer);
  document(tried.filter(({ exit_code }) => !WELL.has(exit_code)));
  printer.result('Nothing was written.');
  return worstCode([...tried.map(({ exit_code }) => exit_code), code]);
}

/** @throws EvidenceError for errors that would affect every other month too. */
async function checkOne(
  { archive, shown, ...options }: MissingOptions & { archive: Archive; shown: ShownByService },
  missing: MissingMonth,
  context: CommandContext,
): Promise<Tried> {
  const { month, has, isBegun: begun, isGrown } = missing;
  const answer = answerOf(options, month);
  return orFailed(month, 'would not be exported', context, async () => {
    refuseOutOfPlace(missing);
    refuseUnended(answer.period, shown.clock);
    const { runId } = await checkRun({ ...options, answer, revise: isGrown }, options.footing, archive);
    const isResumed = begun && runId === answer.runId;
    const how = isGrown ? 'revised' : isResumed ? 'resumed' : 'exported';
    context.printer.result(`Run ${runId} would be ${how}: ${has}.`);
    return { month, exit_code: 0, result: null };
  });
}

function printLine(result: ExportResult, { printer }: CommandContext): void {
  const { run_id, streams, reconciliation } = result.record;
  const { outcome, exit_code } = endOf(result);
  const entries = streams.reduce((sum, stream) => sum + stream.entries, 0);
  const what = `${plural(reconciliation.listed, 'stream')} listed, ${plural(entries, 'entry')}`;
  printer.result(`Run ${run_id}: ${outcome} (exit code ${exit_code}), ${what}`);
}

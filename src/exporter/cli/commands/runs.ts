import { grouped, plural } from '../../../core/plurals.ts';
import { fitTable } from '../../../core/terminal/table.ts';
import { type CoveringRun, coverageOf, coverMonths } from '../../../verifier/records/coverage.ts';
import { toMonthReport } from '../../../verifier/records/month-report.ts';
import { addMonths, wholeMonths } from '../../../verifier/records/months.ts';
import type { Question } from '../../../verifier/records/question.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import { overviewRuns, type RunOverview } from '../../ledger/overview.ts';
import type { CommandContext } from '../command.ts';
import { loadConfig } from '../config/config.ts';
import { withArchive } from '../config/stores.ts';
import { DAY_MS } from '../output/days.ts';
import { printLacking } from '../output/lacking-months.ts';
import { formatBytes } from '../output/progress.ts';
import type { FlagsOf } from './flags-of.ts';

/** Lists the exported runs as recorded in the archive, without verification. */
export async function runRuns(flags: FlagsOf<'runs'>, context: CommandContext): Promise<number> {
  if (flags.action === 'abandon') return (await import('./abandon.ts')).runAbandon(flags, context);
  const { printer, environment, directory, signal } = context;
  const config = await loadConfig(flags, environment, directory);
  const now = new Date();
  const runs: RunLine[] = [];
  const covering: (CoveringRun & { finished_at: string })[] = [];
  await withArchive(config.archive, context, async (archive) => {
    for await (const run of overviewRuns(archive)) {
      signal.throwIfAborted();
      runs.push(toLine(run, now));
      if (run.record !== null) covering.push(toCovering(run.record));
    }
  });
  covering.sort((a, b) => (a.finished_at < b.finished_at ? -1 : 1));
  const months = coverMonths(covering, now).map(toMonthReport);
  printer.document('evidence-runs/1', { archive: config.archive.url, runs, months });
  if (runs.length === 0) printer.result(`Nothing has been exported to ${config.archive.url} yet.`);
  else printer.block(format(runs));
  printLacking(months, printer);
  return 0;
}

function toCovering(record: RunRecord) {
  const { run_id, finished_at } = record;
  return { run_id, finished_at, ...coverageOf(record) };
}

/** Run in the form of `--json`. */
type RunLine = ReturnType<typeof toLine>;

function toLine(run: RunOverview, now: Date) {
  const { run_id, state, given_up, record, asked, stamped, objects, bytes, protection } = run;
  const lock = protection?.lock ?? null;
  const { reconciliation } = record ?? {};
  const question = record ?? asked;
  return {
    run_id,
    state,
    given_up,
    outcome: record?.outcome ?? null,
    period: question?.period ?? null,
    scope: question?.scope ?? null,
    begun_at: question?.begun_at ?? null,
    begun_at_by_service: question?.begun_at_by_service ?? null,
    finished_at: record?.finished_at ?? null,
    streams: record?.streams.length ?? null,
    /** Number of listed streams, and of streams that the run has completely. */
    listed: reconciliation?.listed ?? null,
    whole: reconciliation === undefined ? null : reconciliation.exported + reconciliation.empty,
    signed: record?.signed ?? false,
    stamped,
    objects,
    bytes,
    /** Lock of the run record; `verify` checks every object. */
    lock,
    days_left: lock === null || lock === 'hidden' ? null : daysUntil(lock.retain_until, now),
    legal_hold: protection?.legal_hold ?? false,
  };
}

function daysUntil(moment: string, now: Date): number {
  return Math.max(0, Math.floor((Date.parse(moment) - now.getTime()) / DAY_MS));
}

function format(runs: readonly RunLine[]): string {
  const columns = [
    { title: 'run' },
    { title: 'period' },
    { title: 'outcome' },
    { title: 'streams', align: 'right' as const },
    { title: 'size', align: 'right' as const },
    { title: 'locked until' },
    { title: 'left', align: 'right' as const },
    { title: 'remarks' },
  ];
  const rows = runs.map((run) => [
    run.run_id,
    run.period === null ? '–' : nameOfPeriod(run.period, run.begun_at_by_service ?? run.begun_at ?? ''),
    run.state === 'open' ? 'OPEN' : (run.outcome ?? run.state),
    run.listed === null ? '–' : `${grouped(run.whole ?? 0)} of ${grouped(run.listed)}`,
    formatBytes(run.bytes),
    describeLock(run.lock),
    run.days_left === null ? '–' : plural(run.days_left, 'day'),
    remarksOn(run).join(', '),
  ]);
  return fitTable(columns, rows);
}

function describeLock(lock: RunLine['lock']): string {
  if (lock === null) return 'not locked';
  return lock === 'hidden' ? 'not shown' : `${lock.retain_until.slice(0, 10)} (${lock.mode})`;
}

function remarksOn({ state, given_up, scope, signed, stamped, legal_hold }: RunLine): string[] {
  if (state === 'open') return [...describeScope(scope), 'the same export command resumes it or exports a revision'];
  if (given_up !== null)
    return [given_up.kind === 'superseded' ? `replaced by ${given_up.by}` : `${given_up.by}: ${given_up.reason}`];
  return [
    ...(legal_hold ? ['legal hold'] : []),
    ...(state === 'unrecorded' ? ['NOT IN THE LEDGER: run the same export command to add it'] : []),
    signed ? 'signed' : 'unsigned',
    ...(stamped ? ['time-stamped'] : []),
  ];
}

/** Describes the streams that a run was begun for. */
function describeScope(scope: RunLine['scope']): string[] {
  if (scope === null) return [];
  const streams = scope.streams.length === 0 ? 'all streams' : `streams ${scope.streams.join(' ')}`;
  const without = scope.exclude.length === 0 ? '' : ` without ${scope.exclude.join(' ')}`;
  return [`${streams}${without}`];
}

const MIDNIGHT = /T00:00:00\.000Z$/;

/**
 * Returns a short name of a period, including its last day: `2026-10`, `2026-Q3`, `2026-10-01 to 2026-10-14`.
 * @param begunAt time at which the run was begun, which is the end of an open period.
 */
export function nameOfPeriod({ from, to }: Question['period'], begunAt: string): string {
  const months = wholeMonths({ from, to });
  if (months !== null) return nameOfMonths(months);
  const end = to === null ? begunAt.replace(/\.\d+Z$/, 'Z') : lastDayOf(to);
  if (from === null) return to === null ? `all time until ${end}` : `until ${end}`;
  return `${from.replace(MIDNIGHT, '').replace('.000Z', 'Z')} ${to === null ? 'until' : 'to'} ${end}`;
}

function nameOfMonths({ first, count }: { first: string; count: number }): string {
  const [year, month] = [first.slice(0, 4), Number(first.slice(5))];
  if (count === 1) return first;
  if (count === 12 && month === 1) return year;
  if (count === 3 && month % 3 === 1) return `${year}-Q${(month + 2) / 3}`;
  return `${first} to ${addMonths(first, count - 1)}`;
}

function lastDayOf(end: string): string {
  if (!MIDNIGHT.test(end)) return `before ${end.replace('.000Z', 'Z')}`;
  return new Date(Date.parse(end) - DAY_MS).toISOString().slice(0, 10);
}

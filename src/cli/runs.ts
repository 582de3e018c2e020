import { describePeriod } from '../bundle/period.ts';
import { EvidenceError } from '../errors.ts';
import { overviewRuns, type RunOverview } from '../ledger/overview.ts';
import { grouped, plural } from '../report/view/words.ts';
import type { CommandContext } from './command.ts';
import { loadConfig } from './config.ts';
import { DAY_MS } from './days.ts';
import type { RunsFlags } from './flags.ts';
import { formatBytes } from './progress.ts';
import { openArchive } from './store.ts';
import { formatTable } from './table.ts';

/** What was exported so far: read from the archive, not verified. */
export async function runRuns(flags: RunsFlags, context: CommandContext): Promise<number> {
  const { printer, environment, directory, signal } = context;
  const config = await loadConfig(flags, environment, directory);
  const archive = await openArchive(config, context, false);
  if (archive === null)
    throw new EvidenceError('not-found', `there is no archive at ${config.archiveUrl}`, {
      nextStep: 'Name the archive with --archive or archive.url.',
    });
  const now = new Date();
  const runs: RunLine[] = [];
  try {
    for await (const run of overviewRuns(archive)) {
      signal.throwIfAborted();
      runs.push(toLine(run, now));
    }
  } finally {
    await archive.close();
  }
  printer.document({ archive: config.archiveUrl, runs });
  if (runs.length === 0) printer.result(`Nothing was exported to ${config.archiveUrl} yet.`);
  else printer.block(format(runs));
  return 0;
}

/** As `--json` shows it. */
type RunLine = ReturnType<typeof toLine>;

function toLine({ run_id, state, record, stamped, objects, bytes, protection }: RunOverview, now: Date) {
  const lock = protection?.lock ?? null;
  return {
    run_id,
    state,
    outcome: record?.outcome ?? null,
    period: record?.period ?? null,
    finished_at: record?.finished_at ?? null,
    streams: record?.streams.length ?? null,
    signed: record?.signed ?? false,
    stamped,
    objects,
    bytes,
    /** Of the run's record; `verify` looks at every object. */
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
    { title: 'run', max: 32 },
    { title: 'period', max: 60 },
    { title: 'outcome' },
    { title: 'streams', align: 'right' as const },
    { title: 'size', align: 'right' as const },
    { title: 'locked until' },
    { title: 'left', align: 'right' as const },
    { title: 'remarks' },
  ];
  const rows = runs.map((run) => [
    run.run_id,
    run.period === null ? '–' : describePeriod(run.period),
    run.outcome ?? '–',
    run.streams === null ? '–' : grouped(run.streams),
    formatBytes(run.bytes),
    describeLock(run.lock),
    run.days_left === null ? '–' : plural(run.days_left, 'day'),
    remarksOn(run).join(', '),
  ]);
  return formatTable(columns, rows);
}

function describeLock(lock: RunLine['lock']): string {
  if (lock === null) return 'not locked';
  return lock === 'hidden' ? 'not shown' : `${lock.retain_until.slice(0, 10)} (${lock.mode})`;
}

function remarksOn({ state, signed, stamped, legal_hold }: RunLine): string[] {
  if (state === 'open') return ['OPEN: the same export command resumes it'];
  return [
    ...(legal_hold ? ['legal hold'] : []),
    ...(state === 'unrecorded' ? ['NOT IN THE LEDGER: the same export command adds it'] : []),
    signed ? 'signed' : 'unsigned',
    ...(stamped ? ['time-stamped'] : []),
  ];
}

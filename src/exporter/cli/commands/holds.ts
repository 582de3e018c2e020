import { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { readHoldLog, standingHolds } from '../../../verifier/records/hold-log.ts';
import type { FinalizedRun } from '../../../verifier/records/stored-run.ts';
import { type Archive, retainUntil } from '../../archive/archive.ts';
import {
  changeProtection,
  foreseeProtection,
  type ProtectionChange,
  type ProtectionOptions,
} from '../../ledger/protection.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { withArchive } from '../config/stores.ts';
import { readOperator } from '../config/tool.ts';
import { requireRun } from '../output/finalized-run.ts';
import type { FlagsOf } from './flags-of.ts';

/** Default maximum of a lock. No one can shorten a lock, so this prevents a typo from creating one of 700 years. */
const DEFAULT_MAX_YEARS = 30;

export function runHold(flags: FlagsOf<'hold'>, context: CommandContext): Promise<number> {
  return change('hold', flags, context, () => null);
}

export function runRelease(flags: FlagsOf<'release'>, context: CommandContext): Promise<number> {
  return change('release', flags, context, () => null);
}

export async function runExtend(flags: FlagsOf<'extend'>, context: CommandContext): Promise<number> {
  const options = readOptions(flags);
  return change('extend', flags, context, (config, { record }) => endOf(options, config, new Date(record.finished_at)));
}

async function change(
  action: 'hold' | 'release' | 'extend',
  flags: FlagsOf<'hold'> & Partial<FlagsOf<'release'>>,
  context: CommandContext,
  until: (config: Config, run: FinalizedRun) => Date | null,
): Promise<number> {
  const { printer, signal, environment, directory } = context;
  const config = await loadConfig(flags, environment, directory);
  if (flags.reason.trim() === '') throw new EvidenceError('usage', '--reason says nothing');
  return withArchive(config.archive, context, async (archive) => {
    const run = await requireRun(archive, flags.run);
    const lifted = action === 'release' ? await toBeLifted(archive, flags) : [];
    const options: ProtectionOptions = {
      runId: flags.run,
      action,
      reason: flags.reason,
      orderedBy: readOperator(),
      retainUntil: until(config, run),
      mode: config.archive.store.retention?.mode ?? null,
    };
    if (flags['dry-run'] === true) return foresee(archive, options, lifted, context);
    const changed = await changeProtection({ archive, now: () => new Date(), signal }, options);
    const { record, result, key } = changed;
    printer.document(`evidence-${action}/1`, { ...record, completed_at: result.ended_at, key, lifted });
    for (const line of describe(changed)) printer.result(line);
    for (const hold of lifted) printer.result(`Lifted: ${sayHold(hold)}`);
    return 0;
  });
}

/**
 * Returns the holds that a release removes. An object is either held or not, whatever the number of cases, so a release
 * removes every hold of the run.
 * @throws EvidenceError `usage` for several holds without --all.
 */
async function toBeLifted(archive: Archive, { run, all }: Partial<FlagsOf<'release'>> & { run: string }) {
  const log = await readHoldLog(archive, run);
  const standing = standingHolds(log).map(({ record: { reason, ordered_by, ordered_at } }) => {
    return { reason, ordered_by: ordered_by.user, ordered_at };
  });
  const isBegun = log.some(({ record, result }) => record.action === 'release' && result === null);
  if (standing.length > 1 && all !== true && !isBegun)
    throw new EvidenceError(
      'usage',
      `run ${run} is on ${standing.length} legal holds, and a release lifts all of them: ${standing.map(sayHold).join('; ')}`,
      { nextStep: 'If all of these cases are closed, add --all. Nothing was changed.' },
    );
  return standing;
}

/** Hold that a release removes. */
type Lifted = Awaited<ReturnType<typeof toBeLifted>>[number];

function sayHold({ reason, ordered_by, ordered_at }: Lifted): string {
  return `the hold of ${ordered_at} by ${ordered_by}: ${reason}`;
}

/** Prints what a change would do, and how it can be undone. */
async function foresee(
  archive: Archive,
  options: ProtectionOptions,
  lifted: readonly Lifted[],
  { printer }: CommandContext,
): Promise<number> {
  const { runId: run_id, action, retainUntil } = options;
  const objects = await foreseeProtection(archive, options);
  const retain_until = retainUntil?.toISOString() ?? null;
  printer.document(`evidence-${action}-dry-run/1`, { dry_run: true, run_id, action, retain_until, objects, lifted });
  const modes = [...new Set(objects.map(({ lock }) => lock?.mode ?? options.mode))];
  const what = {
    hold: 'would be placed on legal hold; `evidence release` undoes this',
    release: 'would be released from legal hold; `evidence hold` restores it',
    extend: modes.includes('compliance')
      ? `would be locked until at least ${retain_until}. In compliance mode, NOBODY can undo this`
      : `would be locked until at least ${retain_until}; only users who may bypass governance can undo this`,
  }[action];
  printer.result(`Run ${run_id}: ${plural(objects.length, 'object')} ${what}.`);
  for (const hold of lifted) printer.result(`Would be lifted: ${sayHold(hold)}`);
  printer.result('The order and its reason would be kept with the run forever. Nothing was changed.');
  return 0;
}

/** End of a lock: a moment, or a number of years after the end of the run. */
type Extension = Date | number;

/** Reads the options before anything is requested. @throws EvidenceError `usage` if they are no valid time. */
function readOptions({ years, until }: FlagsOf<'extend'>): Extension {
  if ((years === undefined) === (until === undefined))
    throw new EvidenceError('usage', 'give either --years or --until');
  if (years === undefined) return readMoment(until ?? '');
  if (Number.isInteger(years) && years >= 1 && years <= 100) return years;
  throw new EvidenceError('usage', '--years is not a whole number from 1 to 100');
}

/** @throws EvidenceError `usage` if the end is outside the policy. */
function endOf(options: Extension, { archive: { store } }: Config, finished: Date): Date {
  const { years = 0, maxYears = DEFAULT_MAX_YEARS } = store.retention ?? {};
  const until = typeof options === 'number' ? retainUntil(options, finished) : options;
  const [floor, ceiling] = [retainUntil(years, finished), retainUntil(maxYears, finished)];
  if (until > ceiling)
    throw new EvidenceError(
      'usage',
      `${until.toISOString()} is more than ${maxYears} years after the run; nobody can delete a locked run before its lock ends`,
      { nextStep: 'If this is intended, raise archive.retention.max_years in evidence.yaml.' },
    );
  if (until < floor)
    throw new EvidenceError('usage', `${until.toISOString()} is earlier than the ${years} years of archive.retention`);
  return until;
}

function readMoment(text: string): Date {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const moment = new Date(isTime ? text : Number.NaN);
  if (Number.isNaN(moment.getTime()))
    throw new EvidenceError('usage', `--until ${text} is not a day or an RFC 3339 time`);
  moment.setUTCMilliseconds(0);
  return moment;
}

function describe({ key, record, result, resumed }: ProtectionChange): string[] {
  const objects = plural(result.objects.length, 'object');
  const what = {
    hold: 'nobody can delete them until the run is released',
    release: 'the legal hold is lifted; retention stays',
    extend: `locked until ${record.retain_until}, or longer if already so`,
  }[record.action];
  const lead = resumed ? 'Completed an interrupted change. ' : '';
  return [`${lead}Run ${record.run_id}: ${objects}: ${what}.`, `Recorded as ${key}.`];
}

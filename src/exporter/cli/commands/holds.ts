import { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/words.ts';
import { changeProtection, type ProtectionChange } from '../../../verifier/ledger/protection.ts';
import type { FinalizedRun } from '../../../verifier/records/stored-run.ts';
import { retainUntil } from '../../archive/retention.ts';
import type { CommandContext } from '../command.ts';
import { withArchive } from '../config/archives.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { readOperator } from '../config/tool.ts';
import { requireRun } from '../output/finalized-run.ts';
import type { ExtendFlags, HoldFlags } from './hold-flags.ts';

/** A lock of this kind cannot be taken back by anybody: a slip of the finger must not make one of 700 years. */
const DEFAULT_MAX_YEARS = 30;

export function runHold(flags: HoldFlags, context: CommandContext): Promise<number> {
  return change('hold', flags, context, () => null);
}

export function runRelease(flags: HoldFlags, context: CommandContext): Promise<number> {
  return change('release', flags, context, () => null);
}

export function runExtend(flags: ExtendFlags, context: CommandContext): Promise<number> {
  if ((flags.years === undefined) === (flags.until === undefined))
    throw new EvidenceError('usage', 'say how long, with either --years or --until');
  return change('extend', flags, context, (config, { record }) => endOf(flags, config, new Date(record.finished_at)));
}

async function change(
  action: 'hold' | 'release' | 'extend',
  flags: HoldFlags,
  context: CommandContext,
  until: (config: Config, run: FinalizedRun) => Date | null,
): Promise<number> {
  const { printer, signal, environment, directory } = context;
  const config = await loadConfig(flags, environment, directory);
  if (flags.reason.trim() === '') throw new EvidenceError('usage', '--reason says nothing');
  return withArchive(config, context, async (archive) => {
    const run = await requireRun(archive, flags.run);
    const wish = {
      runId: flags.run,
      action,
      reason: flags.reason,
      orderedBy: readOperator(),
      retainUntil: until(config, run),
      mode: config.store.retention?.mode ?? null,
    };
    const changed = await changeProtection({ archive, now: () => new Date(), signal }, wish);
    printer.document(`evidence-${action}/1`, {
      ...changed.record,
      completed_at: changed.result.ended_at,
      key: changed.key,
    });
    for (const line of describe(changed)) printer.result(line);
    return 0;
  });
}

/** @throws EvidenceError `usage` for a moment outside of the policy. */
function endOf(flags: ExtendFlags, { store }: Config, finished: Date): Date {
  const { years = 0, maxYears = DEFAULT_MAX_YEARS } = store.retention ?? {};
  if (flags.years !== undefined && !(Number.isInteger(flags.years) && flags.years >= 1 && flags.years <= 100))
    throw new EvidenceError('usage', '--years is not a whole number from 1 to 100');
  const until = flags.years === undefined ? readMoment(flags.until ?? '') : retainUntil(flags.years, finished);
  const [floor, ceiling] = [retainUntil(years, finished), retainUntil(maxYears, finished)];
  if (until > ceiling)
    throw new EvidenceError(
      'usage',
      `${until.toISOString()} is more than ${maxYears} years after the run; what is locked so long nobody can delete sooner`,
      { nextStep: 'If it is meant, raise archive.retention.max_years in evidence.yaml.' },
    );
  if (until < floor)
    throw new EvidenceError('usage', `${until.toISOString()} is sooner than the ${years} years of archive.retention`);
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
    release: 'the legal hold is taken away; what retention they have stays',
    extend: `locked until ${record.retain_until}, or longer if they were`,
  }[record.action];
  const lead = resumed ? 'Completed what was interrupted. ' : '';
  return [`${lead}Run ${record.run_id}: ${objects}: ${what}.`, `Recorded as ${key}.`];
}

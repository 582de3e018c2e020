import { EvidenceError } from '../../core/errors.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import { lastEndedMonth, periodOfMonths } from '../../verifier/records/months.ts';
import { filterOf } from '../../verifier/records/question.ts';
import type { Period } from '../client/period.ts';
import type { ClockReading } from '../clocks.ts';

/** Flags that select a period. At most one way of selecting may be given. */
export interface PeriodQuestion {
  /** Month in the form `2026-10`. */
  month?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  allTime?: boolean | undefined;
  /** Id of an auditor's request, which becomes the id of the run. */
  request?: string | undefined;
  /** Selected streams. A run of some streams has another name than the run of all. */
  streams?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
}

/** Name of an open-ended run, without the day between prefix and suffix. */
export interface RunName {
  prefix: string;
  suffix: string;
}

export interface PeriodAnswer {
  /** Id of the run in the archive. */
  runId: string;
  period: Period;
  /** Name of the run without its day, for a period without an end; null if a request names the run. */
  series: RunName | null;
}

/** Period and the run name derived from it. */
interface Named {
  name: string;
  period: Period;
}

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/**
 * Returns the period and the run id. The default period is the last complete month in UTC.
 * @throws EvidenceError `usage` if flags contradict each other, a date is invalid, or the period has not ended.
 */
export function resolvePeriod(question: PeriodQuestion, now: Date): PeriodAnswer {
  const { month, from, to, allTime, request } = question;
  const ways = [month !== undefined, from !== undefined || to !== undefined, allTime === true];
  if (ways.filter(Boolean).length > 1)
    throw new EvidenceError('usage', '--period, --from/--to and --all-time cannot be combined', {
      nextStep: 'Use one of them, or none for the last full month.',
    });
  const { name, period } =
    allTime === true
      ? { name: 'all-time', period: { from: null, to: null } }
      : from !== undefined || to !== undefined
        ? between(from, to)
        : inMonth(month ?? lastEndedMonth(now));
  refuseFuture(period, now);
  if (request !== undefined) return { runId: checkRunId(request), period, series: null };
  const suffix = suffixOf(question);
  if (period.to !== null) return { runId: `${name}${suffix}`, period, series: null };
  // The entries up to now differ from day to day, so the name includes the day.
  const prefix = `${name}-`;
  return { runId: `${prefix}${now.toISOString().slice(0, 10)}${suffix}`, period, series: { prefix, suffix } };
}

/**
 * Returns a suffix for a stream filter, so that a trial run of one stream does not take the name of the month's run.
 */
function suffixOf({ streams = [], exclude = [] }: PeriodQuestion): string {
  const filter = filterOf({ streams: [...streams], exclude: [...exclude] });
  return filter === '' ? '' : `_${slugOf(filter)}`;
}

/** Throws if the period has not ended: a run is final, so later entries of the period would be missing from it. */
function refuseFuture({ from, to }: Period, now: Date): void {
  if (to === null || Date.parse(to) <= now.getTime()) return;
  const begun = from === null || Date.parse(from) < now.getTime();
  const untilNow = from === null ? '--all-time' : `--from ${from} alone`;
  throw new EvidenceError(
    'usage',
    `the period ends at ${to}, in the future; later entries would be missing from this run`,
    { nextStep: `Wait until it ends${begun ? `, or export up to now with ${untilNow}` : ''}.` },
  );
}

/**
 * Checks the end of the period by the clock that dates the entries.
 * @throws EvidenceError `usage` if the period has not ended at the service.
 */
export function refuseUnended({ to }: Period, clock: ClockReading | null): void {
  // A Date header has whole seconds, so the service's time may be up to a second later.
  if (to === null || clock === null || clock.theirs.getTime() + 1000 > Date.parse(to)) return;
  const [ours, theirs] = [clock.ours, clock.theirs].map((time) => time.toISOString());
  throw new EvidenceError(
    'usage',
    `the period ends at ${to}, but the service's clock shows ${theirs} (this machine's: ${ours}); later entries would be missing from this run`,
    {
      nextStep:
        'Nothing was exported. Wait until the period ends there, or correct the wrong clock (`evidence doctor` compares both).',
    },
  );
}

function inMonth(month: string): Named {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month))
    throw new EvidenceError('usage', `--period ${month} is not a month such as 2026-10`);
  return { name: month, period: periodOfMonths(month) };
}

function between(from: string | undefined, to: string | undefined): Named {
  const start = from === undefined ? null : toTime('--from', from);
  const end = to === undefined ? null : toTime('--to', to);
  if (start !== null && end !== null && start >= end)
    throw new EvidenceError('usage', `--from ${from} is not before --to ${to}`);
  const name = (time: string | null, otherwise: string) =>
    time === null
      ? otherwise
      : time
          .replace(/T00:00:00\.000Z$/, '')
          .replaceAll(':', '')
          .replace('.000Z', 'Z');
  return { name: `${name(start, 'start')}_${name(end, 'now')}`, period: { from: start, to: end } };
}

function toTime(flag: string, text: string): string {
  const wellFormed = /^\d{4}-\d{2}-\d{2}(T([01]\d|2[0-3]):\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text);
  const time = wellFormed && isDay(text.slice(0, 10)) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(time.getTime()))
    throw new EvidenceError('usage', `${flag} ${text} is neither a day (2026-10-01) nor an RFC 3339 time with a zone`);
  return time.toISOString();
}

/** Reports whether the day exists. Date accepts 31 April and turns it into 1 May. */
function isDay(text: string): boolean {
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === text;
}

function checkRunId(request: string): string {
  if (RUN_ID.test(request)) return request;
  throw new EvidenceError('usage', `--request ${request} cannot name a run`, {
    nextStep: 'Use letters, digits, dots, hyphens and underscores, at most 80, starting with a letter or a digit.',
  });
}

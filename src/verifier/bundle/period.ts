/** Half-open span of time; null for no bound. RFC 3339 in UTC. */
interface Period {
  from: string | null;
  to: string | null;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const MIDNIGHT = 'T00:00:00.000Z';

/**
 * Describes a period, e.g. `October 2026 (1–31 October 2026, UTC)`.
 * @param until time of the export, if known: an open period ends then.
 */
export function describePeriod({ from, to }: Period, until: string | null = null): string {
  const now = until === null ? 'the time of the export' : `the export of ${describeMinute(until)}`;
  if (from !== null && to !== null) return between(from, to);
  const end = to === null ? `up to ${now}` : `before ${describeTime(to)}`;
  return from === null ? `everything ${end} (UTC)` : `from ${describeTime(from)} ${end} (UTC)`;
}

/** Describes a day as `1 October 2026`, with the time of day unless it is midnight. */
export function describeTime(time: string): string {
  const date = new Date(time);
  const day = `${date.getUTCDate()} ${monthOf(date)} ${date.getUTCFullYear()}`;
  const clock = date
    .toISOString()
    .slice(11)
    .replace(/(\.000)?Z$/, '');
  return clock === '00:00:00' ? day : `${day} ${clock}`;
}

/** Describes a time to the minute: a package made during the export has no more exact end. */
function describeMinute(time: string): string {
  return `${describeTime(`${time.slice(0, 10)}T00:00:00.000Z`)}, ${time.slice(11, 16)}`;
}

/** Describes days as a range, e.g. `5–9 October 2026`. @param last included. */
export function describeDays(first: string, last: string): string {
  const [start, end] = [new Date(first), new Date(last)];
  const tail = `${end.getUTCDate()} ${monthOf(end)} ${end.getUTCFullYear()}`;
  if (first.slice(0, 10) === last.slice(0, 10)) return tail;
  if (first.slice(0, 7) === last.slice(0, 7)) return `${start.getUTCDate()}–${tail}`;
  const year = start.getUTCFullYear() === end.getUTCFullYear() ? '' : ` ${start.getUTCFullYear()}`;
  return `${start.getUTCDate()} ${monthOf(start)}${year} – ${tail}`;
}

function between(from: string, to: string): string {
  if (!from.endsWith(MIDNIGHT) || !to.endsWith(MIDNIGHT) || to <= from)
    return `from ${describeTime(from)} to before ${describeTime(to)} (UTC)`;
  const last = new Date(Date.parse(to) - 1).toISOString();
  const days = describeDays(from, last);
  const isMonths = from.slice(8, 10) === '01' && to.slice(8, 10) === '01';
  return isMonths ? `${describeMonths(from, last)} (${days}, UTC)` : `${days} (UTC)`;
}

function describeMonths(first: string, last: string): string {
  const [start, end] = [new Date(first), new Date(last)];
  const [startYear, endYear] = [start.getUTCFullYear(), end.getUTCFullYear()];
  if (first.slice(0, 7) === last.slice(0, 7)) return `${monthOf(end)} ${endYear}`;
  if (startYear === endYear && start.getUTCMonth() === 0 && end.getUTCMonth() === 11) return String(endYear);
  return `${monthOf(start)}${startYear === endYear ? '' : ` ${startYear}`} to ${monthOf(end)} ${endYear}`;
}

function monthOf(date: Date): string {
  return MONTHS[date.getUTCMonth()] ?? '';
}

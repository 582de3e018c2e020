import { type Markup, markup } from '../../../core/html/markup.ts';
import { grouped, plural } from '../../../core/plurals.ts';
import { moment, statusWord } from '../../web/components.ts';
import type { WireStats } from '../wire/stats.ts';
import type { WireCheckpoint, WireStream, WireVerification } from '../wire.ts';

export const CHECKS_CHANGED = 'records of checks were changed or removed outside the platform';

/** Returns warnings about counts of streams and checks that do not match the records; null if there are none. */
export function misfitOf({ missing_streams: missing, checks_changed }: WireStats): Markup | null {
  const words = [
    ...(missing === null
      ? ['The count of streams was changed outside the platform, so missing streams cannot be detected.']
      : []),
    ...(missing ? [`${plural(missing, 'stream')} removed outside the platform, with all entries.`] : []),
    ...(checks_changed
      ? [`${CHECKS_CHANGED[0]?.toUpperCase()}${CHECKS_CHANGED.slice(1)}. Verify each stream again to learn its state.`]
      : []),
  ];
  return words.length === 0 ? null : markup`<p class="refusal">${words.join(' ')}</p>\n`;
}

/** Returns the result of a stream's last check in a word. */
export function stateOf({ verification_status: status }: WireStream): Markup {
  if (status === 'failed') return statusWord('bad', 'Failed');
  return status === 'verified' ? statusWord('good', 'Verified') : statusWord('neutral', 'No check on record');
}

/** States when a stream was checked, with what result, and how far the check reaches. */
export function checkedWords(stream: WireStream, now: Date): Markup {
  const { verification_status: status, last_checked_at: at } = stream;
  if (status === 'unverified' || at === null) return markup`No valid record of a check.`;
  if (status === 'verified') return markup`Verified on ${moment(at, now)} ${reachWords(stream)}.`;
  return markup`The check on ${moment(at, now)} found a failure ${reachWords(stream)}.`;
}

/** States the last entry up to which the last check found nothing wrong. */
export function reachWords({ verification_status, head_sequence, verified_through_sequence }: WireStream): string {
  const through = verified_through_sequence ?? 0;
  if (verification_status === 'failed')
    return through === 0 ? 'from the first entry' : `after entry ${grouped(through)}`;
  const since = Math.max(0, head_sequence - through);
  return `up to entry ${grouped(through)}; ${since === 0 ? 'no entry' : plural(since, 'entry')} since`;
}

export function checkOutcome({ verified, failures }: WireVerification): Markup {
  if (verified) return statusWord('good', 'No findings');
  return statusWord('bad', `${plural(failures.length, 'finding')}`);
}

/** Returns the state of an anchor and its kind of authority; the built-in authority is not an independent witness. */
export function anchorWords({ anchor }: WireCheckpoint, now: Date): Markup {
  const { status, authority, gen_time } = anchor;
  if (status === 'failed') return markup`${statusWord('bad', 'Changed')} Changed outside the service; not an anchor.`;
  if (status === 'pending' || gen_time === null) return markup`${statusWord('warning', 'Pending')} No time stamp yet.`;
  if (authority === 'external') return markup`${statusWord('good', 'External')} ${moment(gen_time, now)}`;
  return markup`${statusWord('neutral', 'Development')} ${moment(gen_time, now)}`;
}

export const DEVELOPMENT_WARNING =
  'The development authority is built into this platform. It is not an independent witness, and its time stamps prove nothing against the platform itself.';

export function entryRange(first: number | null, last: number | null): string {
  if (first === null || last === null) return 'no entry';
  return first === last ? `entry ${grouped(first)}` : `entries ${grouped(first)} to ${grouped(last)}`;
}

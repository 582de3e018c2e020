import { cutText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { ClockCorrection, EntryWords } from '../model/entry.ts';
import type { Description } from '../profile/description.ts';
import { valueAt } from '../profile/path.ts';
import { toTimeOrNull } from '../profile/time.ts';

/** Maximum length in code points, because names from outside may have any length. */
const MAX_LENGTH = 200;

/** Action of an entry by which a service states that its clock was corrected. */
const CORRECTED = 'clock.corrected';

export function wordsOf({ occurred_at, timestamp_unit, actor, action }: Description['entry'], entry: Json): EntryWords {
  const done = textAt(entry, action);
  return {
    occurredAt: occurred_at == null ? null : toTimeOrNull(valueAt(entry, occurred_at), timestamp_unit),
    actor: textAt(entry, actor),
    action: done,
    corrected: done === CORRECTED ? correctionOf(valueAt(entry, 'metadata')) : null,
  };
}

/** Returns the correction that metadata state; null unless they have exactly its members. */
function correctionOf(metadata: Json | undefined): ClockCorrection | null {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return null;
  const { now, previous, ...others } = metadata;
  const isPlain = typeof now === 'string' && typeof previous === 'string' && Object.keys(others).length === 0;
  return isPlain ? { now, previous } : null;
}

function textAt(entry: Json, paths: string | readonly string[] | null | undefined): string | null {
  const sent = [paths ?? []].flat().map((path) => valueAt(entry, path));
  const text = sent.filter((value) => typeof value === 'string' || typeof value === 'number').join(' ');
  return text === '' ? null : cutWord(text);
}

/** Truncates a word of an entry for display and counting. */
export function cutWord(text: string): string {
  return cutText(text, MAX_LENGTH);
}

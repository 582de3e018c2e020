import { agree, grouped, plural } from '../../../core/plurals.ts';
import type { Result } from '../messages.ts';
import type { Belonging } from './belonging.ts';

export interface Headline {
  tone: 'calm' | 'alarm' | 'caution';
  word: string;
  sentences: string[];
}

/** A result in one word and a few sentences, which never say more than was proved. */
export function headlineOf(result: Result, belonging: Belonging): Headline {
  const { bundleFindings, status, streamId, entries } = result;
  if (bundleFindings.length > 0)
    return {
      tone: 'alarm',
      word: status === null ? 'NOT A SOUND BUNDLE' : 'NOT WHAT IT STATES',
      sentences: [
        `${plural(bundleFindings.length, 'finding')}: this is not the bundle that was made, or not all of it. Do not rely on it; fetch it again from the archive.`,
      ],
    };
  const what = `Every file is what the manifest says. Stream ${streamId ?? 'unknown'}, ${plural(entries, 'entry')}.`;
  if (status === 'refuted') return { tone: 'alarm', word: 'REFUTED', sentences: [what, refutation(result)] };
  if (belonging === 'replaced' || belonging === 'stray')
    return {
      tone: 'alarm',
      word: 'NOT THE BUNDLE OF THIS RUN',
      sentences: ['Do not take it for what was archived; fetch the bundle again from the archive.', what],
    };
  const sums = sumsOf(result);
  if (status === 'empty')
    return { tone: 'caution', word: 'NOTHING CHECKED', sentences: [what, 'There is no entry to check.'] };
  if (status === 'incomplete')
    return {
      tone: 'caution',
      word: 'INCOMPLETE',
      sentences: [what, ...sums, 'A form is missing, or a required claim is not proved here.'],
    };
  const word = status === 'collected' ? 'COLLECTED' : 'VERIFIED HERE';
  // A bundle that this report does not list may be anybody's, however sound it is.
  if (belonging !== 'listed') return { tone: 'caution', word, sentences: [what, ...sums, UNKNOWN_MAKER] };
  return { tone: status === 'verified' ? 'calm' : 'caution', word, sentences: [what, ...sums] };
}

const UNKNOWN_MAKER = 'Nothing here shows who made it.';

/** Says what is proved here, and under it always what is not. */
function sumsOf({ claims }: Result): string[] {
  const namesOf = (state: Result['claims'][number]['state']) =>
    claims.filter((claim) => claim.state === state).map(({ name }) => name);
  const [open, recorded] = [namesOf('unproved'), namesOf('recorded')];
  const proved = namesOf('proved').length;
  return [
    `${grouped(proved)} of ${plural(claims.length, 'claim')} ${agree(proved, 'is', 'are')} proved here, and none is refuted.`,
    ...(open.length === 0 ? [] : [`Not proved here: ${open.join(', ')}.`]),
    ...(recorded.length === 0 ? [] : [`Recorded by the export, and not derived here: ${recorded.join(', ')}.`]),
  ];
}

function refutation({ claims, refutation: recorded }: Result): string {
  const here = claims.filter(({ state }) => state === 'refuted').map(({ name }) => name);
  if (here.length > 0) return `Refuted here: ${here.join(', ')}.`;
  return `The bundle states that it was ${recorded ?? 'refuted'}.`;
}

import { grouped, plural } from '../../../core/words.ts';
import { notProvedIn } from '../../../verifier/claims/claim.ts';

/**
 * The sentence under every word that a verdict is told by: what that word leaves open. Null where nothing is.
 * @param each what each of them is: a stream has a bundle in every run.
 */
export function sayNotProved(
  streams: Parameters<typeof notProvedIn>[0],
  each: 'stream' | 'bundle' = 'stream',
): string | null {
  const open = notProvedIn(streams);
  const [first, ...others] = open;
  if (first === undefined) return null;
  const rest = others.map((claim) => `, ${claim.name} (${grouped(claim.streams)} of ${grouped(claim.of)})`);
  return `Not proved: ${first.name} (${grouped(first.streams)} of ${plural(first.of, each)} with entries)${rest.join('')}.`;
}

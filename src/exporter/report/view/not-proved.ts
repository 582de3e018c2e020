import { grouped, plural } from '../../../core/plurals.ts';
import { notProvedIn, refutedIn } from '../../../verifier/claims/claim.ts';

/**
 * The sentences under every word that a verdict is told by: which claims are refuted, and what that word leaves open. Null
 * where nothing is either.
 * @param each what each of them is: a stream has a bundle in every run.
 */
export function sayNotProved(
  streams: Parameters<typeof notProvedIn>[0],
  each: 'stream' | 'bundle' = 'stream',
): string | null {
  const refuted = refutedIn(streams).map((claim) => `${claim.name} (${plural(claim.streams, each)})`);
  const open = notProvedIn(streams).map((claim, index) => {
    const all = index === 0 ? `${plural(claim.of, each)} with entries` : grouped(claim.of);
    return `${claim.name} (${grouped(claim.streams)} of ${all})`;
  });
  const sentences = [
    ...(refuted.length === 0 ? [] : [`Refuted: ${refuted.join(', ')}.`]),
    ...(open.length === 0 ? [] : [`Not proved: ${open.join(', ')}.`]),
  ];
  return sentences.length === 0 ? null : sentences.join(' ');
}

import { grouped, plural } from '../../../core/plurals.ts';
import { notProvedIn, refutedIn } from '../../../verifier/claims/claim.ts';
import type { Operator } from '../../../verifier/claims/schemas.ts';

/** @throws TypeError for a name that has no value: the template and the code are of one version. */
export function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{([a-z_]+)\}/g, (_all, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`the text "${template}" asks for ${name}`);
    return String(value);
  });
}

/** A remark of the record, as a sentence of its own. */
export function asSentence(remark: string): string {
  return `${remark.charAt(0).toUpperCase()}${remark.slice(1)}.`;
}

/**
 * The name of the operator. A text takes its direction from its first letter (UAX #9, P2): it is English, whatever the
 * names are.
 */
export function nameOf({ user, host }: Operator): string {
  return `user ${user} on ${host}`;
}

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

import { grouped, plural } from '../../../core/plurals.ts';
import { notProvedIn, refutedIn } from '../../../verifier/claims/claim.ts';
import type { Operator } from '../../../verifier/claims/schemas.ts';

/**
 * Fills in the values of a template. @throws TypeError if a value is missing: template and code have the same version.
 */
export function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{([a-z_]+)\}/g, (_all, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`the text "${template}" asks for ${name}`);
    return String(value);
  });
}

/** The reason of an exclusion, as the flags of an export name it. */
export function sayExclusion(pattern: string | null): string {
  return pattern === null ? 'not named by --stream' : `--exclude ${pattern}`;
}

/** Turns a warning of the record into a sentence. */
export function asSentence(remark: string): string {
  return `${remark.charAt(0).toUpperCase()}${remark.slice(1)}.`;
}

/**
 * Returns the name of the operator. The leading English word makes the direction of the text left-to-right (UAX #9,
 * P2), whatever script the names use.
 */
export function nameOf({ user, host }: Operator): string {
  return `user ${user} on ${host}`;
}

/**
 * Returns the sentences that accompany every verdict: which claims are refuted, and which are not proved. Null if
 * neither applies.
 * @param each unit of the counts: `bundle` if the streams are bundles of several runs.
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

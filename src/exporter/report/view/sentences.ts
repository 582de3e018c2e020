import type { Operator } from '../../../verifier/claims/stated-schema.ts';

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

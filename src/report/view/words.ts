import type { Operator } from '../../ledger/record.ts';

/** @throws TypeError for a name that has no value: the template and the code are of one version. */
export function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{([a-z_]+)\}/g, (_all, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`the text "${template}" asks for ${name}`);
    return String(value);
  });
}

/** A whole number as people read it: 1,234,567. `toLocaleString` does so too, once ICU is loaded, which takes 15 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 stream`, `2,000 streams`. */
export function plural(count: number, thing: string): string {
  const things = count === 1 ? thing : /[^aeiou]y$/.test(thing) ? `${thing.slice(0, -1)}ies` : `${thing}s`;
  return `${grouped(count)} ${things}`;
}

/** Who acted. A text takes its direction from its first letter (UAX #9, P2): it is English, whatever the names are. */
export function nameOf({ user, host }: Operator): string {
  return `user ${user} on ${host}`;
}

/** A whole number as people read it: 1,234,567. `toLocaleString` does so too, once ICU is loaded, which takes 15 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 stream`, `2,000 streams`. */
export function plural(count: number, thing: string): string {
  const things = count === 1 ? thing : /[^aeiou]y$/.test(thing) ? `${thing.slice(0, -1)}ies` : `${thing}s`;
  return `${grouped(count)} ${things}`;
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** A length of time in the largest unit that it has two of: `45 seconds`, `90 minutes`, `361 days`. */
export function roughly(seconds: number): string {
  const [length, unit] = UNITS.find(([one]) => seconds >= 2 * one) ?? [1, 'second'];
  return plural(Math.round(seconds / length), unit);
}

/** The form of a word that goes with a count: `agree(1, 'is', 'are')`. */
export function agree(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

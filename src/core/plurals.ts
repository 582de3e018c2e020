/** Formats a whole number as 1,234,567. `toLocaleString` does the same, but loading ICU takes 15 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a count with its noun: `1 stream`, `2,000 streams`. */
export function plural(count: number, thing: string): string {
  const things = count === 1 ? thing : /[^aeiou]y$/.test(thing) ? `${thing.slice(0, -1)}ies` : `${thing}s`;
  return `${grouped(count)} ${things}`;
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** Formats a duration in the largest unit of which it has at least two: `45 seconds`, `90 minutes`, `361 days`. */
export function roughly(seconds: number): string {
  const [length, unit] = UNITS.find(([one]) => seconds >= 2 * one) ?? [1, 'second'];
  return plural(Math.round(seconds / length), unit);
}

/** Returns the form of a word that agrees with a count: `agree(1, 'is', 'are')`. */
export function agree(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

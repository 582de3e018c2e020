/** A whole number as people read it: 1,234,567. `toLocaleString` does so too, once ICU is loaded, which takes 15 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 stream`, `2,000 streams`. */
export function plural(count: number, thing: string): string {
  const things = count === 1 ? thing : /[^aeiou]y$/.test(thing) ? `${thing.slice(0, -1)}ies` : `${thing}s`;
  return `${grouped(count)} ${things}`;
}

/** The form of a word that goes with a count: `agree(1, 'is', 'are')`. */
export function agree(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

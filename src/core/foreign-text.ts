/**
 * Text of others in our own words. A string may hold half of a surrogate pair, which no UTF-8 text can: JSON with one is
 * ambiguous (RFC 7493 section 2.1), so none of our records, messages or findings may have one.
 */

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** The text with each lone surrogate made visible, as `\u{d800}`. */
export function visibleText(text: string): string {
  return text.isWellFormed() ? text : text.replace(LONE_SURROGATE, (unit) => `\\u{${unit.charCodeAt(0).toString(16)}}`);
}

/** The first code points of the text, made visible, with an ellipsis where there are more. */
export function cutText(text: string, codePoints: number): string {
  // A code point takes at most two code units: no more are looked at, however long the text is.
  const beginning = [...text.slice(0, 2 * codePoints + 2)];
  const shown = visibleText(beginning.slice(0, codePoints).join(''));
  return beginning.length > codePoints ? `${shown}…` : shown;
}

/** A value of JSON, with each of its texts made visible. */
export function visibleJson<T>(value: T): T {
  return visible(value) as T;
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(visible);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [visibleText(name), visible(member)]));
}

/** True if no text of a JSON value has a lone surrogate. */
export function isWellFormedJson(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormedJson(member));
}

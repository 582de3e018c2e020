/**
 * Halves of surrogate pairs, which text from outside may have and UTF-8 text cannot: JSON with one is ambiguous (RFC
 * 7493 section 2.1), so none of our records, messages or findings may contain one.
 */

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Returns the text with each lone surrogate made visible, e.g. as `\u{d800}`. */
export function visibleText(text: string): string {
  return text.isWellFormed() ? text : text.replace(LONE_SURROGATE, (unit) => `\\u{${unit.charCodeAt(0).toString(16)}}`);
}

/** Returns the first code points of the text, made visible, followed by an ellipsis if there are more. */
export function cutText(text: string, codePoints: number): string {
  // A code point takes at most two code units, so this bounds the work on a long text.
  const beginning = [...text.slice(0, 2 * codePoints + 2)];
  const shown = visibleText(beginning.slice(0, codePoints).join(''));
  return beginning.length > codePoints ? `${shown}…` : shown;
}

/** Returns a JSON value with all of its texts made visible. */
export function visibleJson<T>(value: T): T {
  return visible(value) as T;
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(visible);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [visibleText(name), visible(member)]));
}

/** Reports whether no text of a JSON value has a lone surrogate. */
export function isWellFormedJson(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormedJson(member));
}

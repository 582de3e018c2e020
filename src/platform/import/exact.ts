import type { Json } from '../../core/json/canonical.ts';

export interface ImportedJson {
  value: Json;
  /** The number of numbers that became text, because a double would have changed or lost them. */
  numbersAsText: number;
  /** The number of strings that held a lone surrogate, now U+FFFD: no digest can be computed over such a string. */
  repairedTexts: number;
}

/**
 * `JSON.parse`, with what an audit entry cannot carry made explicit instead of silently changed: an integer beyond
 * ±(2^53−1) and a number beyond the range of a double become the text that stood there.
 *
 * @throws SyntaxError
 */
export function parseExactly(text: string): ImportedJson {
  let numbersAsText = 0;
  let repairedTexts = 0;
  const revive = (_name: string, value: Json, context?: { source?: string }): Json => {
    if (typeof value === 'number' && losesDigits(value)) {
      numbersAsText++;
      return context?.source ?? String(value);
    }
    if (typeof value === 'string' && !value.isWellFormed()) {
      repairedTexts++;
      return value.toWellFormed();
    }
    return value;
  };
  return { value: JSON.parse(text, revive) as Json, numbersAsText, repairedTexts };
}

function losesDigits(number: number): boolean {
  return !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number));
}

import { expect, test } from 'vitest';
import type { Face } from '../../../src/core/typesetting/fonts.ts';
import { wrap } from '../../../src/core/typesetting/wrap.ts';

/** A face in which every character is as wide as the font is high. */
const FACE = { widthOf: (text: string) => text.length } as Face;

function linesOf(text: string, width: number): string[] {
  const units = Array.from(text, (character) => ({ text: character, face: FACE, isMark: false }));
  return wrap(units, width, 9, 1).map(({ from, to }) => text.slice(from, to));
}

test.each([
  ['at a space', 'one two', 5, ['one', 'two']],
  ['after a colon in a name', 'arn:aws:s3', 8, ['arn:aws:', 's3']],
  ['not within a time', 'at 12:09:54.653', 12, ['at', '12:09:54.653']],
  ['not within an amount', 'all 1,461', 7, ['all', '1,461']],
  ['after a comma between a number and a word', 'in 12,next', 8, ['in 12,', 'next']],
  ['within a time that is wider than a line', '12:09:54.653', 8, ['12:09:54', '.653']],
])('a line ends %s', (_words, text, width, lines) => {
  expect(linesOf(text, width)).toEqual(lines);
});

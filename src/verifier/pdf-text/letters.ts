import { toLines } from './lines.ts';
import type { Piece } from './text.ts';

/** Of single letters in a row: no sentence has so many. */
const MOST_LOOSE = 3;
/** Words by which facts are stated. */
const WORDS = /entries|entrycount|package|stream|headhash/gi;

/** Whether a page has words that a person reads, and no program finds: `E n t r i e s` and `Ent ries`. */
export function hasLooseLetters(pieces: readonly Piece[]): boolean {
  const lines = toLines(pieces).map(({ cells }) => cells.map(({ text }) => text).join(' '));
  return hasManyAlone(lines.join(' ')) || lines.some(hasBrokenWord);
}

function hasManyAlone(text: string): boolean {
  let alone = 0;
  for (const word of text.split(/\s+/)) {
    alone = /^\p{L}\p{M}*$/u.test(word) ? alone + 1 : 0;
    if (alone > MOST_LOOSE) return true;
  }
  return false;
}

function hasBrokenWord(line: string): boolean {
  const whole = line.replace(/entry count/gi, 'entrycount').replace(/head hash/gi, 'headhash');
  return countWords(line.replace(/\s/g, '')) > countWords(whole);
}

function countWords(text: string): number {
  return text.match(WORDS)?.length ?? 0;
}

import { expect, test } from 'vitest';
import { renderMarkdown } from '../../../src/core/terminal/markdown.ts';

const linkWords = (target: string) => (target.endsWith('.md') ? `see ${target.slice(0, -3)}` : '');

/** Shows bold words as `*…*`. */
function shown(text: string, width: number): string {
  const lines = renderMarkdown(text, width, linkWords);
  const pieces = lines.map((line) => (typeof line === 'string' ? [line] : line));
  return pieces
    .map((line) => line.map((piece) => (typeof piece === 'string' ? piece : `*${piece.text}*`)).join(''))
    .join('\n');
}

const RENDERED: [what: string, markdown: string, width: number, expected: string][] = [
  ['a heading, and a blank line after it', '# One\ntext', 20, '*One*\n\ntext'],
  ['a paragraph, broken at the width', 'one two\nthree four', 10, 'one two\nthree four'],
  ['two paragraphs, and many blank lines', 'one\n\n\n\ntwo', 10, 'one\n\ntwo'],
  ['a word that is too long', 'a 12345678901 b', 6, 'a\n123456\n78901\nb'],
  ['letters of two columns', '漢字漢字 漢字', 9, '漢字漢字\n漢字'],
  ['bold words, with the comma after them', 'a **b c**, d', 20, 'a *b* *c*, d'],
  ['links to what has words, and to what has none', '[a b](c.md) [d](#e)', 40, 'a b (see c) d'],
  ['code as it stands, not broken', 'x\n\n```sh\nrun  --all # | **this**\n\n  more\n```\ny', 8, code()],
  ['a list, its lines below its text', '- one two\n  three\n- four', 9, '- one two\n  three\n- four'],
  ['a numbered list after a paragraph', 'why:\n\n1. one\n2. two', 9, 'why:\n\n1. one\n2. two'],
  ['a table', '| a | b |\n|---|---|\n| `c` | d |', 20, '*a    b*\n───  ─\n`c`  d'],
  ['a table that is too wide', `| a | b |\n|---|---|\n| c | ${'word '.repeat(4)}|`, 14, tableOfWords()],
  [
    'a table in which words are broken last',
    '| long-name | b |\n|---|---|\n| c | word word word |',
    19,
    '*long-name  b*\n─────────  ────────\nc          word\n           word\n           word',
  ],
  ['a cell with a bar, and one that is not there', '| a | b |\n|---|---|\n| x\\|y |', 20, '*a    b*\n───  ─\nx|y'],
];

function code(): string {
  return 'x\n\n    run  --all # | **this**\n\n      more\n\ny';
}

function tableOfWords(): string {
  return '*a  b*\n─  ───────────\nc  word word\n   word word';
}

test.each(RENDERED)('%s', (_what, markdown, width, expected) => {
  expect(shown(markdown, width)).toBe(expected);
});

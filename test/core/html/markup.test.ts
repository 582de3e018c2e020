import { expect, test } from 'vitest';
import { each, type Markup, markup, name } from '../../../src/core/html/markup.ts';

const textOf = (content: Markup) => [...content.write()].join('');

test.each([
  ['a mark of direction', 'a\u202eb', 'a‹U+202E›b'],
  ['a control', 'a\u0000b\u001b', 'a‹U+0000›b‹U+001B›'],
  ['half a surrogate pair', 'a\ud800', 'a‹U+D800›'],
  ['a space of no width', 'a\u200bb', 'a‹U+200B›b'],
  ['a filler', 'a\u3164', 'a‹U+3164›'],
  ['a family and a flag', '👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️', '👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️'],
  ['what scripts join with', 'می‌خواهم', 'می‌خواهم'],
])('%s is seen', (_what, text, shown) => {
  expect(textOf(name(text))).toBe(`<bdi>${shown}</bdi>`);
});

test('a value is no markup, and markup is no value', () => {
  expect(textOf(markup`<p>${['<b>', markup`<i>${'&'}</i>`, null, 3]}</p>`)).toBe('<p>&lt;b&gt;<i>&amp;</i>3</p>');
});

test('what is made of many things is written where it stands, one after the other', () => {
  let made = 0;
  const row = (text: string) => {
    made++;
    return markup`<i>${text}</i>`;
  };
  const table = markup`<p>${'&'}${[each(['<', '2'], row), '!']}${each([], row)}</p>`;
  expect(made).toBe(0);
  const seen: [string, number][] = [];
  for (const text of table.write()) seen.push([text, made]);
  expect(seen.filter(([text]) => text !== '')).toEqual([
    ['<p>&amp;', 0],
    ['<i>&lt;</i>', 1],
    ['<i>2</i>', 2],
    ['!', 2],
    ['</p>', 2],
  ]);
});

import { grouped } from '../../core/plurals.ts';
import { renderLetterPdf } from './pdf/letter.ts';
import { readLetterTexts, readTexts } from './texts.ts';
import { type LetterFile, type LetterSubject, type LetterView, toLetterView } from './view/letter.ts';

const WIDTH = 96;
const INDENT = '    ';

export interface Letter {
  name: string;
  bytes: Uint8Array;
}

/** The letter that goes with shared evidence. With links in it, it is a secret. */
export async function renderLetter(subject: LetterSubject): Promise<Letter[]> {
  const texts = readTexts();
  const view = toLetterView(subject, readLetterTexts(), texts);
  return [
    { name: 'letter.pdf', bytes: Buffer.concat([...(await renderLetterPdf(view, texts))]) },
    { name: 'letter.txt', bytes: Buffer.from(renderText(view)) },
  ];
}

/** Lines that `sha256sum -c` reads and, of links, those that curl reads as its configuration. */
function renderText(view: LetterView): string {
  const { outcome, facts, digest, remarks, verify } = view;
  const width = Math.max(...facts.map(({ label }) => label.length)) + 2;
  return [
    plain([view.title, view.organisation].filter((part) => part !== null).join(' · ')).toUpperCase(),
    '',
    outcome.words.join(' · '),
    ...outcome.sentences.flatMap((sentence) => wrapped(sentence)),
    '',
    ...facts.flatMap(({ label, lines }) => wrapped(lines.join(' '), label.padEnd(width), ' '.repeat(width))),
    '',
    `${digest.label}:`,
    `${INDENT}${digest.value}`,
    ...wrapped(digest.text),
    ...remarks.flatMap((remark) => wrapped(remark)),
    '',
    ...verify.steps.flatMap(({ title, text, command }, index) => [
      `${index + 1}. ${title}`,
      ...wrapped(index === 0 ? `${verify.introduction} ${text}` : text, INDENT, INDENT),
      '',
      ...command.split('\n').map((line) => `${INDENT}${line}`),
      '',
    ]),
    ...wrapped(view.files.introduction),
    '',
    ...view.files.list.flatMap(linesOf),
    '',
  ].join('\n');
}

function linesOf({ path, bytes, sha256, url }: LetterFile): string[] {
  const stated = [`${sha256}  ${path}`, `# ${grouped(bytes)} bytes`];
  return url === null ? stated : [...stated, `url = ${quote(url)}`, `output = ${quote(path)}`, ''];
}

/** As curl reads it (curl(1), --config). */
function quote(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&')}"`;
}

/** Text of others cannot begin a line that a program would read. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

function wrapped(text: string, first = '', rest = ''): string[] {
  const lines: string[] = [];
  let line = first;
  for (const word of plain(text).split(' ')) {
    const isFull = line.length + word.length > WIDTH && line !== first && line !== rest;
    if (isFull) lines.push(line.trimEnd());
    line = `${isFull ? rest : line}${word} `;
  }
  return [...lines, line.trimEnd()];
}

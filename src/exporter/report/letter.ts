import { setImmediate as nextTurn } from 'node:timers/promises';
import { grouped } from '../../core/plurals.ts';
import { drawFact, drawParagraph, drawSection } from '../../core/typesetting/blocks.ts';
import { setDocument } from '../../core/typesetting/document.ts';
import { ACCENT, GREY, INK, type Setting } from '../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, type Sheet } from '../../core/typesetting/sheet.ts';
import { Table } from '../../core/typesetting/table.ts';
import { drawOutcome } from './pdf/cover.ts';
import { drawHowTo } from './pdf/sections.ts';
import { TONES } from './pdf/style.ts';
import { readLetterTexts, readTexts } from './texts.ts';
import { type LetterFile, type LetterSubject, type LetterView, toLetterView } from './view/letter.ts';
import type { Texts } from './view/texts.ts';

const WIDTH = 96;
const INDENT = '    ';

/** Renders the letter that accompanies shared evidence. A letter with links is a secret. */
export async function renderLetter(subject: LetterSubject) {
  const texts = readTexts();
  const view = toLetterView(subject, readLetterTexts(), texts);
  return [
    { name: 'letter.pdf', bytes: Buffer.concat([...(await renderLetterPdf(view, texts))]) },
    { name: 'letter.txt', bytes: Buffer.from(renderText(view)) },
  ];
}

/** Renders the letter as text. `sha256sum -c` reads its digest lines, and curl reads its links as configuration. */
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

/** Quotes a value for a curl configuration file (curl(1), --config). */
function quote(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&')}"`;
}

/** Replaces line breaks in text from outside, so that it cannot begin a line that a program reads. */
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

const BYTES_WIDTH = 84;
const NAME_LINES = 3;
const ROWS_A_TURN = 50;

/** Renders the letter as a PDF. The same view yields the same bytes. */
function renderLetterPdf(view: LetterView, { marks }: Pick<Texts, 'marks'>): Promise<Iterable<Uint8Array>> {
  const { title, organisation, runId, date, outcome, verify } = view;
  const facts = { title: `${title} · run ${runId}`, subject: organisation ?? runId, date: new Date(date) };
  return setDocument(facts, [view, marks], async (sheet) => {
    drawHead(sheet, view);
    drawHowTo(sheet, { verify });
    await drawFiles(sheet, view);
    if (sheet.hasMarks) drawParagraph(sheet, marks, { size: 7.5, leading: 10.5, color: GREY });
    return {
      head: `${title} · run ${runId}`,
      foot: runId,
      ...(outcome.tone === 'calm'
        ? {}
        : { alarm: { text: outcome.words.join(' · '), color: TONES[outcome.tone].strong } }),
    };
  });
}

function drawHead(sheet: Sheet, view: LetterView): void {
  const { bold } = sheet.styles;
  const label: Setting = { style: bold, size: 8, leading: 10, color: GREY };
  const title: Setting = { style: bold, size: 20, leading: 26, color: ACCENT };
  sheet.bookmark(view.title);
  sheet.element('P', () => sheet.flow(view.title.toUpperCase(), label));
  sheet.y -= 8;
  sheet.element('H1', () => sheet.flow(view.organisation ?? `Run ${view.runId}`, title));
  sheet.y -= 12;
  drawOutcome(sheet, view);
  sheet.y -= 18;
  for (const { label: name, lines, form } of view.facts) drawFact(sheet, name, lines, form);
  sheet.y -= 6;
  drawFact(sheet, view.digest.label, [view.digest.value], 'mono');
  drawParagraph(sheet, view.digest.text);
  for (const remark of view.remarks) drawParagraph(sheet, remark);
}

async function drawFiles(sheet: Sheet, { files }: LetterView): Promise<void> {
  const { introduction, clickable, list } = files;
  drawSection(sheet, 'Files');
  drawParagraph(sheet, clickable === null ? introduction : `${introduction} ${clickable}`);
  const table = new Table(sheet, [
    { head: 'File and its SHA-256', width: CONTENT_WIDTH - BYTES_WIDTH },
    { head: 'Bytes', width: BYTES_WIDTH, align: 'right' },
  ]);
  sheet.open('Table');
  table.drawHead();
  for (const [index, file] of list.entries()) {
    drawFile(sheet, table, file);
    // Drawing thousands of rows takes seconds; yields so that signals are handled.
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn();
  }
  sheet.close();
}

function drawFile(sheet: Sheet, table: Table, { path, bytes, sha256, url }: LetterFile): void {
  const body: Setting = { style: sheet.styles.regular, size: 8, leading: 10.5, color: INK };
  const mono: Setting = { style: sheet.styles.mono, size: 7, leading: 9.5, color: GREY };
  const name: Setting = url === null ? body : { ...body, color: ACCENT, link: url };
  table.drawRow({
    cells: [
      [
        { text: path, setting: name, maxLines: NAME_LINES },
        { text: sha256, setting: mono, maxLines: 1 },
      ],
      [{ text: grouped(bytes), setting: body, maxLines: 1 }],
    ],
  });
}

import { renderMarkdown } from '../../../core/terminal/markdown.ts';
import { type Printer, styled } from '../../../core/terminal/printer.ts';
import { columnsOf } from '../../../core/terminal/table.ts';

/** Columns that fit on any terminal. */
export const STORY_COLUMNS = 80;
const INDENT = '   ';

/** Chapter of a story: an explanation and named facts. */
interface Chapter {
  title: string;
  text: string;
  facts?: Facts;
}

/** Named facts. */
export type Facts = readonly (readonly [name: string, value: string])[];

/** Prints a story on the terminal, chapter by chapter. */
export class Story {
  readonly #printer: Printer;
  #chapters = 0;

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  tell({ title, text, facts = [] }: Chapter): void {
    this.#chapters++;
    this.#printer.result('');
    this.#printer.result([styled(`${this.#chapters}  ${title}`, 'bold')]);
    this.say(text);
    this.show(facts);
  }

  /** Prints a paragraph. */
  say(text: string): void {
    for (const line of inColumns(text, STORY_COLUMNS - INDENT.length)) this.#printer.result(`${INDENT}${line}`);
  }

  /** Prints facts below each other. */
  show(facts: Facts): void {
    const width = Math.max(0, ...facts.map(([name]) => columnsOf(name)));
    for (const [name, value] of facts) {
      const before = `${INDENT}  ${name}${' '.repeat(width - columnsOf(name))}  `;
      const lines = inColumns(value, STORY_COLUMNS - columnsOf(before));
      for (const [at, line] of lines.entries())
        this.#printer.result(`${at === 0 ? before : ' '.repeat(columnsOf(before))}${line}`);
    }
  }

  /** Prints a path or command, never wrapped, so that it can be copied. */
  point(what: string, at: string): void {
    this.say(what);
    this.#printer.result(`${INDENT}  ${at}`);
  }

  /** Prints preformatted text, such as a table. */
  set(text: string): void {
    this.#printer.block(`\n${text}\n`);
  }
}

/** Wraps running text to a number of columns. */
function inColumns(text: string, columns: number): string[] {
  return renderMarkdown(text, columns, () => '').map((line) =>
    [line]
      .flat()
      .map((piece) => (typeof piece === 'string' ? piece : piece.text))
      .join(''),
  );
}

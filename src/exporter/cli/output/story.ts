import { renderMarkdown } from '../../../core/terminal/markdown.ts';
import { type Printer, styled } from '../../../core/terminal/printer.ts';
import { columnsOf } from '../../../core/terminal/table.ts';

/** The columns of any terminal. */
export const STORY_COLUMNS = 80;
const INDENT = '   ';

/** A chapter of a story: what it is about, and what is seen in it, by its name. */
interface Chapter {
  title: string;
  text: string;
  facts?: Facts;
}

/** Facts by their names. */
export type Facts = readonly (readonly [name: string, value: string])[];

/** Tells a story on the terminal, chapter by chapter. */
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

  /** A paragraph. */
  say(text: string): void {
    for (const line of inColumns(text, STORY_COLUMNS - INDENT.length)) this.#printer.result(`${INDENT}${line}`);
  }

  /** Facts under each other. */
  show(facts: Facts): void {
    const width = Math.max(0, ...facts.map(([name]) => columnsOf(name)));
    for (const [name, value] of facts) {
      const before = `${INDENT}  ${name}${' '.repeat(width - columnsOf(name))}  `;
      const lines = inColumns(value, STORY_COLUMNS - columnsOf(before));
      for (const [at, line] of lines.entries())
        this.#printer.result(`${at === 0 ? before : ' '.repeat(columnsOf(before))}${line}`);
    }
  }

  /** Names a thing that somebody may open or run; it is never broken, so that it can be copied. */
  point(what: string, at: string): void {
    this.say(what);
    this.#printer.result(`${INDENT}  ${at}`);
  }

  /** Writes a text that is set already, e.g. a table. */
  set(text: string): void {
    this.#printer.block(`\n${text}\n`);
  }
}

/** Running text in lines of at most so many columns. */
function inColumns(text: string, columns: number): string[] {
  return renderMarkdown(text, columns, () => '').map((line) =>
    [line]
      .flat()
      .map((piece) => (typeof piece === 'string' ? piece : piece.text))
      .join(''),
  );
}

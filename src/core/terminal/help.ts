import type { Argv } from 'yargs';

/** Lead of a help line, e.g. a flag, before its description. */
const LEAD = /^( {2,}(?:\S+ )*\S* {2,}| {2,})(?=\S)/;

/**
 * Breaks help lines that are too long for the terminal between words, and indents the rest of a description to its
 * start. The parser itself would break within words.
 */
export function reflow(help: string, columns: number): string {
  return help
    .split('\n')
    .map((line) => breakLine(line, columns))
    .join('\n');
}

function breakLine(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const lead = LEAD.exec(line)?.[0] ?? '';
  const indent = lead.length <= columns / 2 ? ' '.repeat(lead.length) : '      ';
  const lines: string[] = [];
  let current = lead;
  for (const word of line.slice(lead.length).split(' ')) {
    const isFull = current.length + word.length > columns && current.trim() !== '' && current !== lead;
    if (isFull) lines.push(current.trimEnd());
    current = `${isFull ? indent : current}${word} `;
  }
  return [...lines, current.trimEnd()].join('\n');
}

const USUAL_COLUMNS = 80;

/**
 * Parses a command line and returns the parser's own output, e.g. a help text, in lines that fit the terminal. The
 * parser's `wrap` must be null.
 * @param ending end of the help on the program, made on demand.
 * @throws any error of a handler or of `fail`.
 */
export async function parseSaying(
  parser: Argv,
  words: readonly string[],
  ending: () => string = () => '',
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  await parser.parse(words, (_error: unknown, flags: { version?: unknown; _: unknown[] }, said: string) => {
    const isHelpOnProgram = said !== '' && flags._.length === 0 && flags.version !== true;
    resolve(isHelpOnProgram ? `${said}\n\n${ending()}`.trimEnd() : said);
  });
  return reflow(await promise, process.stdout.columns || USUAL_COLUMNS);
}

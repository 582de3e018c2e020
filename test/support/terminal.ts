import { resolve } from 'node:path';
import type { RunOptions } from './environment.ts';
import { builtFolder, EVIDENCE, runToEnd } from './process.ts';

export interface Shown {
  code: number | null;
  /** Everything written to the terminal, including control sequences. */
  written: string;
  /** Lines on the final screen. */
  screen: string[];
}

/**
 * Runs `evidence` on a terminal, made by `script`, with this many columns; 0 for a terminal of 80 that does not report
 * its size.
 */
export async function evidenceOnTerminal(
  args: readonly string[],
  { cwd, env }: RunOptions,
  columns: number,
): Promise<Shown> {
  const program = [process.execPath, resolve(builtFolder(), 'dist', EVIDENCE), ...args];
  const quoted = program.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const { code, stdout } = await runToEnd(
    'script',
    ['-qec', `stty cols ${columns} rows 50; exec ${quoted}`, '/dev/null'],
    { cwd, env: { SHELL: '/bin/sh', TERM: 'xterm', ...env } },
  );
  return { code, written: stdout, screen: render(stdout, columns || 80) };
}

/** Placeholder for the second column of a wide character. */
const BESIDE = '\u{3000}';

/** Renders the few control sequences that progress uses. @throws Error for any other. */
function render(written: string, columns: number): string[] {
  const lines: string[] = [''];
  let [row, column] = [0, 0];
  const down = () => {
    row += 1;
    lines[row] ??= '';
  };
  const obey = (command: string, count: number) => {
    if (command === 'F') [row, column] = [Math.max(0, row - count), 0];
    else if (command === 'J' || command === 'K') {
      lines[row] = (lines[row] ?? '').slice(0, column);
      if (command === 'J') lines.length = row + 1;
    } else if (command !== 'm') throw new Error(`no command of a terminal that is known here: ${command}`);
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences contain them.
  for (const [token, count, command] of written.matchAll(/\x1b\[([\d;]*)([A-Za-z])|./gsu)) {
    if (command !== undefined) obey(command, Number(count || 1));
    else if (token === '\r') column = 0;
    else if (token === '\n') down();
    else {
      const wide = /\p{Script=Han}/u.test(token);
      if (column + (wide ? 2 : 1) > columns) {
        column = 0;
        down();
      }
      const line = (lines[row] ?? '').padEnd(column);
      const cell = wide ? `${token}${BESIDE}` : token;
      lines[row] = `${line.slice(0, column)}${cell}${line.slice(column + cell.length)}`;
      column += cell.length;
    }
  }
  return lines;
}

import process from 'node:process';
import type { CommandTable, Flag, NamedCommand } from './command-table.ts';

const USUAL_COLUMNS = 80;

type Row = readonly [lead: string, text: string | undefined];

/** Returns the help on a command, in lines that fit the terminal. */
export function helpOn({ called, table, flags, inner }: NamedCommand): string {
  const { describe = '', operands = {}, examples = [], epilogue = () => '' } = table;
  const [program = ''] = called.split(' ');
  const short = ({ alias }: Flag) => (alias === undefined ? '    ' : `-${alias}, `);
  const sections = [
    called === program ? `${called} <command>` : usageOf(called, table),
    describe,
    listRows('Commands:', Object.entries(inner), ([name, one]) => [usageOf(`${program} ${name}`, one), one.describe]),
    listRows('Positionals:', Object.entries(operands), ([name, operand]) => [name, describeFlag(operand)]),
    listRows('Options:', Object.entries(flags), ([name, flag]) => [`${short(flag)}--${name}`, describeFlag(flag)]),
    listRows('Examples:', examples, ([line, meaning]) => [line.replace('$0', program), meaning]),
    epilogue(),
  ];
  return reflow(sections.filter((part) => part !== '').join('\n\n'), process.stdout.columns || USUAL_COLUMNS);
}

function usageOf(called: string, { operands = {} }: CommandTable): string {
  const words = Object.entries(operands).map(([name, { array, required }]) => {
    const word = array ? `${name}..` : name;
    return required ? `<${word}>` : `[${word}]`;
  });
  return [called, ...words].join(' ');
}

/** Returns a title and a row of two columns for each item; an empty text if there are no items. */
export function listRows<T>(title: string, items: readonly T[], rowOf: (item: T) => Row): string {
  if (items.length === 0) return '';
  const rows = items.map(rowOf);
  const longest = Math.max(...rows.map(([lead]) => lead.length));
  return [title, ...rows.map(([lead, text]) => `  ${lead.padEnd(longest)}  ${text}`.trimEnd())].join('\n');
}

function describeFlag({ describe, type, array, required, choices, default: usual }: Flag): string {
  const notes = [
    array ? 'array' : (type ?? (choices === undefined ? 'string' : undefined)),
    required ? 'required' : undefined,
    choices === undefined ? undefined : `choices: ${quoted(choices)}`,
    usual === undefined ? undefined : `default: ${JSON.stringify(usual)}`,
  ];
  return `${describe}  ${notes.flatMap((note) => (note === undefined ? [] : [`[${note}]`])).join(' ')}`;
}

export function quoted(choices: readonly string[]): string {
  return choices.map((choice) => `"${choice}"`).join(', ');
}

/** Lead of a help line, e.g. a flag, before its description. */
const LEAD = /^( {2,}(?:\S+ )*\S* {2,}| {2,})(?=\S)/;

/**
 * Breaks help lines that are too long for the terminal between words, and indents the rest of a description to its
 * start.
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

import { readManifest } from '../install-paths.ts';
import { type CommandTable, camelCase, type Flag, find, type NamedCommand, type Program } from './command-table.ts';
import { helpOn } from './help.ts';
import { type Given, refuseUnknown, refuseWrong } from './usage.ts';

/** Work of a command, with the values of flags and operands; or the text of a help or of the version. */
export type Parsed<Work> = string | { work: Work; values: object };

/**
 * Parses a command line.
 * @param words command line without the program's name.
 * @throws EvidenceError `usage`.
 */
export async function parse<Work>(program: Program<Work>, words: readonly string[]): Promise<Parsed<Work>> {
  const found = find(program, (await read(find(program, []), words))._);
  const given = await read(found, words);
  if (given['help'] === true) return helpOn(found);
  if (given['version'] === true) return readManifest().version;
  await refuseUnknown(found, given, words);
  takeOperands(found.table, given);
  refuseWrong(found, given);
  return { work: found.table.work as Work, values: valuesOf(found, given) };
}

/** Separates flags and other words with yargs. All checks are made on the tables. */
async function read({ called, known }: NamedCommand, words: readonly string[]): Promise<Given> {
  // Threads load this file, too, and parse no command line.
  const { Parser } = await import('yargs/helpers');
  const rows = Object.entries(known);
  const namesOf = (is: (flag: Flag) => boolean) => rows.filter(([, flag]) => is(flag)).map(([name]) => name);
  const { _: others, ...flags } = Parser([...words], {
    boolean: namesOf(({ type }) => type === 'boolean'),
    // yargs would read an empty text as the number 0.
    string: namesOf(({ type }) => type !== 'boolean'),
    array: namesOf(({ array }) => array === true),
    alias: Object.fromEntries(rows.map(([name, { alias = [] }]) => [name, alias])),
    configuration: { 'dot-notation': false, 'parse-positional-numbers': false },
  });
  const given: Given = { ...flags, _: others.map(String).slice(called.split(' ').length - 1) };
  if (given._.at(-1) !== 'help') return given;
  return { ...given, help: true, _: given._.slice(0, -1) };
}

/** Assigns words without a flag to operands. */
function takeOperands({ operands = {} }: CommandTable, given: Given): void {
  for (const [name, { array }] of Object.entries(operands)) {
    const words = [given[name] ?? [], given._.splice(0, array ? given._.length : 1)].flat();
    given[name] = words.length > (array ? 0 : 1) ? words : words[0];
  }
}

function valuesOf({ known }: NamedCommand, given: Given): object {
  const values: Record<string, unknown> = {};
  for (const [name, { type, default: usual }] of Object.entries(known)) {
    const value = given[name] ?? usual;
    if (value !== undefined) values[name] = values[camelCase(name)] = type === 'number' ? Number(value) : value;
  }
  return values;
}

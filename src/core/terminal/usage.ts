import { EvidenceError } from '../errors.ts';
import { agree } from '../plurals.ts';
import { camelCase, type Flag, type NamedCommand } from './command-table.ts';
import { quoted } from './help.ts';

/** Flags of a command line by their names as given, and in `_` all other words. */
export type Given = Record<string, unknown> & { _: string[] };

/** Names that other tools use for these commands. */
const OTHERWISE: Readonly<Record<string, string>> = {
  backup: 'export',
  check: 'doctor',
  get: 'export',
  list: 'runs',
  ls: 'runs',
  status: 'runs',
};

/**
 * Refuses a command and flags that no table has, with a guess at the intended word. Repeats input only if it reads like
 * a name, because it may be a misplaced secret.
 * @throws EvidenceError `usage`.
 */
export async function refuseUnknown(found: NamedCommand, given: Given, words: readonly string[]): Promise<void> {
  const { called, flags, known, inner } = found;
  const [word] = given._;
  if (word !== undefined && !called.includes(' ')) {
    const guess = await didYouMean(word, Object.keys(inner));
    throw wrong(called, `${isName(word) ? `"${word}"` : 'the given word'} is not a command`, guess);
  }
  const names = Object.entries(known).flatMap(([name, { alias }]) => [name, camelCase(name), alias]);
  const unknown = Object.keys(given).filter((name) => name !== '_' && !names.includes(name));
  if (unknown.length === 0) return;
  const flag = words.find((one) => unknown.includes(nameOf(one)));
  if (flag === undefined) throw wrong(called, 'unexpected argument');
  const name = nameOf(flag);
  const what = isName(name) ? `${flag.startsWith('--') ? '--' : '-'}${name}` : 'the argument that begins with -';
  const dashed = Object.keys(flags).map((one) => `--${one}`);
  throw wrong(called, `${what} is not a flag of \`${called}\``, await didYouMean(`--${name}`, dashed));
}

/**
 * Refuses a command line with missing or superfluous words, or with values that a flag or an operand may not have.
 * @throws EvidenceError `usage`.
 */
export function refuseWrong(found: NamedCommand, given: Given): void {
  const { called, table, flags, known } = found;
  const isMissing = ([name, { required }]: [string, Flag]) => required === true && given[name] === undefined;
  const missing = Object.entries(flags).filter(isMissing);
  const names = missing.map(([name]) => `--${name}`).join(' and ');
  const [word] = given._;
  if (Object.entries(table.operands ?? {}).some(isMissing)) throw wrong(called, 'a required argument is missing');
  if (missing.length > 0) throw wrong(called, `${names} ${agree(missing.length, 'is', 'are')} missing`);
  if (word !== undefined) throw wrong(called, `unexpected argument${isName(word) ? ` "${word}"` : ''}`);
  if (table.demand !== undefined) throw wrong(called, table.demand);
  for (const [name, flag] of Object.entries(known))
    if (given[name] !== undefined) refuseValues(name, [given[name]].flat(), flag, found);
}

function refuseValues(
  name: string,
  values: unknown[],
  { type, array, choices }: Flag,
  { called, flags }: NamedCommand,
): void {
  if (choices !== undefined && !values.every((value) => choices.includes(`${value}`)))
    throw wrong(called, `the value of ${name} must be one of ${quoted(choices)}`);
  if (array === undefined && values.length > 1) throw wrong(called, `--${name} is given more than once`);
  // An empty value would silently mean something else than intended.
  const isEmpty =
    values.length === 0 || values.includes('') || (type !== 'boolean' && values.some((value) => value === false));
  if (!isEmpty) return;
  const [message, other] =
    flags[name] === undefined
      ? [`the ${name.replace(/s$/, '')} is empty`, '']
      : [`--${name} needs a value`, `, or leave --${name} out`];
  const nextStep = `Give a value${other}. If it comes from a variable, the variable may be empty.`;
  throw new EvidenceError('usage', message, { nextStep });
}

function wrong(called: string, message: string, guess = ''): EvidenceError {
  return new EvidenceError('usage', message, { nextStep: `${guess}See \`${called} --help\`.` });
}

/** Returns the name of a flag as given. */
function nameOf(word: string): string {
  return word.startsWith('-') ? word.replace(/^--?/, '').replace(/=.*$/s, '') : '';
}

/** Asks for the nearest known word; an empty text if too many letters differ. */
export async function didYouMean(word: string, known: readonly string[], letters = 2): Promise<string> {
  const small = word.toLowerCase();
  const { closest, distance } = await import('fastest-levenshtein');
  const otherwise = OTHERWISE[small] ?? '';
  const meant = known.includes(otherwise) ? otherwise : closest(small, [...known]);
  const most = small.replace(/^--/, '').length < 4 ? 1 : letters;
  return meant === otherwise || distance(small, meant) <= most ? `Did you mean ${meant}? ` : '';
}

export function isName(word: string): boolean {
  return /^[A-Za-z][A-Za-z-]{0,23}$/.test(word);
}

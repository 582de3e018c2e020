import type { Argv } from 'yargs';
import { EvidenceError } from '../errors.ts';
import { parseSaying } from './help.ts';

/** Parsed command line. */
export interface Parsed {
  /** Name by which the user calls the program. */
  program: 'evidence' | 'evidence-platform';
  /** Words after the program's name. */
  words: readonly string[];
  /** Returns the help on a command or, for null, on the program. */
  helpOn(command: string | null): Promise<string>;
}

/**
 * Returns the parser's help on a command or, for null, on the program.
 * @param parser parser that has not parsed anything yet. @param ending end of the help on the program.
 */
export function helpOn(parser: Argv, command: string | null, ending?: () => string): Promise<string> {
  const words = command === null ? ['--help'] : [...command.split(' '), '--help'];
  return parseSaying(parser, words, ending);
}

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
 * Rewords the parser's complaint, with a guess at the intended word and the help of the right command. Repeats input
 * only if it reads like a name, because it may be a misplaced secret.
 */
export async function toUsageError(complaint: string, parsed: Parsed): Promise<EvidenceError> {
  const { program, words } = parsed;
  const commands = commandsIn(await parsed.helpOn(null), program);
  const [command, inner] = words.filter((word) => !word.startsWith('-'));
  if (command !== undefined && !commands.includes(command)) {
    const meant = await closestTo(command, commands);
    const nextStep = `${ask(meant)}See \`${program} --help\`.`;
    return new EvidenceError('usage', `${shown(command)} is not a command`, { nextStep });
  }
  const named = command === undefined ? null : await innermost(command, inner, parsed);
  const called = named === null ? program : `${program} ${named}`;
  const help = `See \`${called} --help\`.`;
  const flags = flagsIn(await parsed.helpOn(named));
  const name = unknownIn(complaint, words, flags);
  if (name === undefined) return new EvidenceError('usage', inWords(complaint), { nextStep: help });
  const flag = words.find((word) => word !== name && nameOf(word) === name);
  if (flag === undefined) return new EvidenceError('usage', `${shown(name)} is not expected here`, { nextStep: help });
  const meant = await closestTo(`--${name}`, flags);
  const typed = flag.startsWith('--') ? `--${name}` : `-${name}`;
  const what = isName(name) ? typed : 'what begins with - there';
  return new EvidenceError('usage', `${what} is not a flag of \`${called}\``, { nextStep: `${ask(meant)}${help}` });
}

/** Returns a command followed by its subcommand, if any, e.g. `import cloudtrail`. */
async function innermost(command: string, inner: string | undefined, { program, helpOn }: Parsed): Promise<string> {
  if (inner === undefined) return command;
  const within = commandsIn(await helpOn(command), `${program} ${command}`);
  return within.includes(inner) ? `${command} ${inner}` : command;
}

/**
 * Returns the word that the parser does not know or, if something is missing, a flag that may have been meant for it.
 */
function unknownIn(complaint: string, words: readonly string[], flags: readonly string[]): string | undefined {
  const named = /^Unknown arguments?: (.*)$/.exec(complaint)?.[1]?.split(', ');
  // The parser names a flag in two spellings.
  if (named !== undefined) return named.find((one) => words.some((word) => word === one || nameOf(word) === one));
  const given = words.filter((word) => /^--[^-]/.test(word)).map(nameOf);
  return given.find((one) => !flags.includes(`--${one.replace(/^no-/, '')}`));
}

/** Returns the name of a flag as given. */
function nameOf(word: string): string {
  return word.startsWith('-') ? word.replace(/^--?/, '').replace(/=.*$/s, '') : '';
}

/** Returns the commands that a help text lists, each at the beginning of a line. */
export function commandsIn(help: string, program: string): string[] {
  return [...help.matchAll(new RegExp(`^ +${program} ([a-z][a-z-]*)`, 'gm'))].map(([, name = '']) => name);
}

export function flagsIn(help: string): string[] {
  return [...help.matchAll(/^ +(?:-\w, )*(--[a-z][a-z-]*)/gm)].map(([, name = '']) => name);
}

/** Returns the values that a help text lists for a flag or a positional argument. */
export function choicesIn(help: string, name: string): string[] {
  const [, said = ''] = new RegExp(`^ +(?:-\\w, )?${name} ((?:.*)(?:\\n {9,}.*)*)`, 'm').exec(help) ?? [];
  const [, choices = ''] = /\[choices: ([^\]]*)\]/.exec(said) ?? [];
  return [...choices.matchAll(/"([^"]*)"/g)].map(([, value = '']) => value);
}

function ask(meant: string | null): string {
  return meant === null ? '' : `Did you mean ${meant}? `;
}

async function closestTo(word: string, known: readonly string[]): Promise<string | null> {
  const small = word.toLowerCase();
  const otherwise = OTHERWISE[small];
  if (otherwise !== undefined && known.includes(otherwise)) return otherwise;
  const { closest, distance } = await import('fastest-levenshtein');
  if (known.length === 0) return null;
  const meant = closest(small, [...known]);
  return distance(small, meant) <= (small.replace(/^--/, '').length < 4 ? 1 : 2) ? meant : null;
}

function isName(word: string): boolean {
  return /^[A-Za-z][A-Za-z-]{0,23}$/.test(word);
}

function shown(word: string): string {
  return isName(word) ? `"${word}"` : 'a word that was given';
}

/** Rewords the parser's complaint, without the given input. */
function inWords(complaint: string): string {
  return complaint
    .replace(/\s*\n\s*/g, ' ')
    .replace(/^Not enough non-option arguments.*$/, 'an argument of this command is missing')
    .replace(/^Missing required arguments?: (.*)$/, (_all, names: string) => {
      const flags = names.split(', ').map((name) => `--${name}`);
      return `${flags.join(' and ')} ${flags.length === 1 ? 'is' : 'are'} missing`;
    })
    .replace(/^Not enough arguments following: (.*)$/, '--$1 is given without a value')
    .replace(/^Invalid values: Argument: (\S+), Given: .*?, Choices: (.*)$/, 'the value of $1 is none of $2')
    .replace(/^Unknown arguments?: .*$/, 'something was given that is not expected here');
}

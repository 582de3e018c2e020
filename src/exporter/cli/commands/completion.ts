import { readFileSync } from 'node:fs';
import { packageFile } from '../../../core/install-paths.ts';
import { choicesIn, commandsIn, flagsIn } from '../../../core/terminal/usage.ts';
import { CLAIMS } from '../../../verifier/claims/claim.ts';
import type { Command } from '../command.ts';
import { readTopics } from '../output/topics.ts';
import type { CompletionFlags } from './help-flags.ts';

/**
 * Prints the completion script of a shell or, with `--line`, the completions at the end of that line.
 * @param helpOn the help on a command; on the program for null.
 */
export function completeWith(helpOn: (command: string | null) => Promise<string>): Command<CompletionFlags> {
  return async ({ shell, line }, { printer }) => {
    if (line === undefined) {
      const script = readFileSync(packageFile(`templates/completion/${shell}`), 'utf8');
      printer.document('evidence-completion/1', { shell, script });
      printer.block(script.trimEnd());
      return 0;
    }
    const [, ...words] = line.trimStart().split(/\s+/);
    const begun = words.pop() ?? '';
    const known = commandsIn(await helpOn(null), 'evidence');
    const command = words.find((word) => known.includes(word)) ?? null;
    const help = await helpOn(command);
    const flags = begun.startsWith('-') ? flagsIn(help) : [];
    const others = command === null ? known : valuesAfter(words, { command, help, known });
    const found = [...flags, ...others].filter((one) => one.startsWith(begun));
    printer.document('evidence-completion/1', { line, found });
    for (const one of found) printer.result(one);
    return 0;
  };
}

/** Flags whose values are claims. */
const OF_CLAIMS: readonly string[] = ['--require', '--without'];

interface Completed {
  command: string;
  /** Help on the command. */
  help: string;
  /** Names of all commands. */
  known: readonly string[];
}

/** Returns the values that may follow these words; none if any text may. */
function valuesAfter(words: readonly string[], { command, help, known }: Completed): readonly string[] {
  const before = words.at(-1) ?? '';
  if (before.startsWith('-')) {
    const choices = choicesIn(help, before);
    return choices.length === 0 && OF_CLAIMS.includes(before) ? CLAIMS : choices;
  }
  if (before !== command) return [];
  if (command === 'help') return [...readTopics().map(({ name }) => name), ...known];
  const [, first] = /^Positionals:\n +(\w+)/m.exec(help) ?? [];
  return first === undefined ? [] : choicesIn(help, first);
}

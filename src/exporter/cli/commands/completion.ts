import { readFileSync } from 'node:fs';
import { packageFile } from '../../../core/install-paths.ts';
import { find, type NamedCommand, type Program } from '../../../core/terminal/command-table.ts';
import { CLAIMS } from '../../../verifier/claims/claim.ts';
import type { Command } from '../command.ts';
import { readTopics } from '../output/topics.ts';
import type { FlagsOf } from './flags-of.ts';

/** Prints the completion script of a shell or, with `--line`, the completions at the end of that line. */
export function completeWith(program: Program): Command<FlagsOf<'completion'>> {
  return async ({ shell, line }, { printer }) => {
    if (line === undefined) {
      const script = readFileSync(packageFile(`templates/completion/${shell}`), 'utf8');
      printer.document('evidence-completion/1', { shell, script });
      printer.block(script.trimEnd());
      return 0;
    }
    const [, ...words] = line.trimStart().split(/\s+/);
    const begun = words.pop() ?? '';
    const names = Object.keys(program.commands);
    const command = words.find((word) => names.includes(word));
    const begins = find(program, command === undefined ? [] : [command]);
    const flags = begun.startsWith('-') ? Object.keys(begins.flags).map((name) => `--${name}`) : [];
    const others = command === undefined ? names : valuesAfter(words, begins, names);
    const found = [...flags, ...others].filter((one) => one.startsWith(begun));
    printer.document('evidence-completion/1', { line, found });
    for (const one of found) printer.result(one);
    return 0;
  };
}

/** Flags whose values are claims. */
const OF_CLAIMS: readonly string[] = ['--require', '--without'];

/** Returns the values that may follow these words; none if any text may. */
function valuesAfter(
  words: readonly string[],
  { called, table: { operands = {} }, flags }: NamedCommand,
  commands: readonly string[],
): readonly string[] {
  const before = words.at(-1) ?? '';
  if (before.startsWith('-'))
    return flags[before.slice('--'.length)]?.choices ?? (OF_CLAIMS.includes(before) ? CLAIMS : []);
  if (called !== `evidence ${before}`) return [];
  if (before === 'help') return [...readTopics().map((topic) => topic.name), ...commands];
  return Object.values(operands)[0]?.choices ?? [];
}

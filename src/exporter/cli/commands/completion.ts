import { readFileSync } from 'node:fs';
import { packageFile } from '../../../core/install-paths.ts';
import { commandsIn, flagsIn } from '../../../core/terminal/usage.ts';
import type { Command } from '../command.ts';
import type { CompletionFlags } from './completion-flags.ts';

/**
 * Prints the script that a shell completes our commands by; with `--line`, what may stand at the end of that line.
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
    const flags = begun.startsWith('-') ? flagsIn(await helpOn(command)) : [];
    const found = [...(command === null ? known : []), ...flags].filter((one) => one.startsWith(begun));
    printer.document('evidence-completion/1', { line, found });
    for (const one of found) printer.result(one);
    return 0;
  };
}

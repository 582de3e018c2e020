import { readFileSync } from 'node:fs';
import { packageFile } from '../../../core/install-paths.ts';
import type { CommandContext } from '../command.ts';
import type { CompletionFlags } from './completion-flags.ts';

/** Prints the script that a shell completes our commands by. */
export async function runCompletion({ shell }: CompletionFlags, { printer }: CommandContext): Promise<number> {
  const script = readFileSync(packageFile(`templates/completion/${shell}`), 'utf8');
  printer.document('evidence-completion/1', { shell, script });
  printer.block(script.trimEnd());
  return 0;
}

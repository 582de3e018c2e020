import { explain } from '../../../core/terminal/explain.ts';
import type { Command } from '../command.ts';
import { readTopics } from '../output/topics.ts';
import type { HelpFlags } from './help-flags.ts';

/**
 * Implements `evidence help NAME` for a topic or a command. Without a name, the parser prints the output of `--help`.
 * @param helpOn flags and examples of a command; of the program for null.
 */
export function explainWith(helpOn: (command: string | null) => Promise<string>): Command<HelpFlags> {
  return async ({ topic: name = '' }, { printer }) => {
    await explain(name, { program: 'evidence', helpOn, topics: readTopics() }, printer);
    return 0;
  };
}

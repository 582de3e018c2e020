import { explain } from '../../../core/terminal/explain.ts';
import type { Command } from '../command.ts';
import { readTopics } from '../output/topics.ts';
import type { HelpFlags } from './help-flags.ts';

/**
 * `evidence help NAME`: a topic or a command. Without a name, the parser shows what `--help` does.
 * @param helpOn the flags and the examples of a command; of the program for null.
 */
export function explainWith(helpOn: (command: string | null) => Promise<string>): Command<HelpFlags> {
  return async ({ topic: name = '' }, { printer }) => {
    await explain(name, { program: 'evidence', helpOn, topics: readTopics() }, printer);
    return 0;
  };
}

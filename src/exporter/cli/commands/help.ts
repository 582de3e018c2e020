import type { Program } from '../../../core/terminal/command-table.ts';
import { explain } from '../../../core/terminal/explain.ts';
import type { Command } from '../command.ts';
import { readTopics } from '../output/topics.ts';
import type { FlagsOf } from './flags-of.ts';

/** Implements `evidence help NAME` for a topic or a command. Without a name, the parser prints the output of `--help`. */
export function explainWith(program: Program): Command<FlagsOf<'help'>> {
  return async ({ topic: name = '' }, { printer }) => {
    await explain(name, { program, topics: readTopics() }, printer);
    return 0;
  };
}

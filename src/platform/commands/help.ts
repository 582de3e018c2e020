import { listTopics, topicsIn } from '../../core/terminal/topics.ts';
import { command } from './command.ts';

const TOPICS = 'templates/help/platform';

/** Returns the list of topics at the end of `--help`. */
export function listOfPlatformTopics(): string {
  return listTopics(topicsIn(TOPICS), 'evidence-platform');
}

/** `evidence-platform help NAME`. Without a name, the parser shows what `--help` does. */
export const helpCommand = command({
  describe: 'Explain a topic or a command',
  operands: { topic: { describe: 'Topic or command; without it, lists all topics' } },
  async work({ topic = '' }, program) {
    const { explain } = await import('../../core/terminal/explain.ts');
    const { Printer } = await import('../../core/terminal/printer.ts');
    const printer = new Printer({ json: false, quiet: false });
    await explain(topic, { program, topics: topicsIn(TOPICS) }, printer);
  },
});

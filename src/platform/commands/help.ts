import type { Argv, CommandModule } from 'yargs';
import { listTopics, topicsIn } from '../../core/terminal/topics.ts';

const PROGRAM = 'evidence-platform';
const TOPICS = 'templates/help/platform';

/** As `--help` ends. */
export function listOfPlatformTopics(): string {
  return listTopics(topicsIn(TOPICS), PROGRAM);
}

/** `evidence-platform help NAME`. @param helpOn what `--help` says of a command; of the program for null. */
export function helpCommand(
  helpOn: (command: string | null) => Promise<string>,
): CommandModule<object, { topic?: string }> {
  return {
    command: 'help [topic]',
    describe: 'Explain a topic or a command',
    builder: (args: Argv) =>
      args.positional('topic', {
        type: 'string',
        describe: 'A topic or a command; without one, all are listed',
      }) as never,
    async handler({ topic }) {
      if (topic === undefined) process.stdout.write(`${await helpOn(null)}\n`);
      else {
        const { explain } = await import('../../core/terminal/explain.ts');
        const { Printer } = await import('../../core/terminal/printer.ts');
        const printer = new Printer({ json: false, quiet: false });
        await explain(topic, { program: PROGRAM, helpOn, topics: topicsIn(TOPICS) }, printer);
      }
    },
  };
}

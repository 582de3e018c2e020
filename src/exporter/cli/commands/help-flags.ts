import type { Argv } from 'yargs';

export function helpFlags(argv: Argv) {
  return argv
    .positional('topic', { type: 'string', describe: 'a topic or a command; without one, all are listed' })
    .example('$0 help', 'the commands and the topics')
    .example('$0 help configuration', 'every key of evidence.yaml');
}
export type HelpFlags = Awaited<ReturnType<typeof helpFlags>['argv']>;

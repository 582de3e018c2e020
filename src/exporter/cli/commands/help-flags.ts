import type { Argv } from 'yargs';

export function helpFlags(argv: Argv) {
  return argv
    .positional('topic', { type: 'string', describe: 'a topic or a command; without one, all are listed' })
    .example('$0 help', 'the commands and the topics')
    .example('$0 help configuration', 'every key of evidence.yaml');
}
export type HelpFlags = Awaited<ReturnType<typeof helpFlags>['argv']>;

export function completionFlags(argv: Argv) {
  return argv
    .positional('shell', { choices: ['bash', 'zsh', 'fish'] as const, demandOption: true, describe: 'your shell' })
    .options({ line: { type: 'string', describe: 'a line that is begun, to print what may stand at its end' } })
    .example('source <($0 completion bash)', 'in ~/.bashrc')
    .example('source <($0 completion zsh)', 'in ~/.zshrc, after compinit')
    .example('$0 completion fish | source', 'in ~/.config/fish/config.fish');
}
export type CompletionFlags = Awaited<ReturnType<typeof completionFlags>['argv']>;

import type { CommandTable } from '../../../core/terminal/command-table.ts';

export const HELP_COMMANDS = {
  help: {
    describe: 'explain a topic or a command, or list the topics',
    operands: { topic: { describe: 'a topic or a command; without one, all are listed' } },
    examples: [
      ['$0 help', 'the commands and the topics'],
      ['$0 help configuration', 'every key of evidence.yaml'],
    ],
  },
  completion: {
    describe: 'a script that completes commands, flags and values, for bash, zsh or fish',
    operands: { shell: { choices: ['bash', 'zsh', 'fish'], required: true, describe: 'your shell' } },
    flags: { line: { describe: 'a line that is begun, to print what may stand at its end' } },
    examples: [
      ['source <($0 completion bash)', 'in ~/.bashrc'],
      ['source <($0 completion zsh)', 'in ~/.zshrc, after compinit'],
      ['$0 completion fish | source', 'in ~/.config/fish/config.fish'],
    ],
  },
  version: { describe: 'the version of this program' },
} as const satisfies Record<string, CommandTable>;

import type { CommandTable } from '../../../core/terminal/command-table.ts';

export const HELP_COMMANDS = {
  help: {
    describe: 'explain a topic or command, or list them',
    operands: { topic: { describe: 'topic or command (default: list all)' } },
    examples: [
      ['$0 help', 'the commands and the topics'],
      ['$0 help configuration', 'every key of evidence.yaml'],
    ],
  },
  completion: {
    describe: 'print a completion script for bash, zsh or fish',
    operands: { shell: { choices: ['bash', 'zsh', 'fish'], required: true, describe: 'your shell' } },
    flags: { line: { describe: 'partial command line to complete' } },
    examples: [
      ['source <($0 completion bash)', 'in ~/.bashrc'],
      ['source <($0 completion zsh)', 'in ~/.zshrc, after compinit'],
      ['$0 completion fish | source', 'in ~/.config/fish/config.fish'],
    ],
  },
  version: { describe: 'print the version' },
} as const satisfies Record<string, CommandTable>;

import { describe, expect, test } from 'vitest';
import { toUsageError } from '../../../src/core/terminal/usage.ts';

const HELP: Record<string, string> = {
  '': `evidence <command>

Commands:
  evidence export           export a period
  evidence runs             what was exported, and
                            evidence of it
  evidence help <topic>     explain

Options:
  -h, --help  Show help`,
  export: `evidence export

Options:
  -v, --verbose       more
      --period        a month, not --bogus
      --all-time      everything`,
};

const ROWS: [words: string[], complaint: string, says: string, next: string][] = [
  [['exprot'], 'Unknown argument: exprot', '"exprot" is not a command', 'Did you mean export? See `evidence --help`.'],
  [['EXPORT'], 'Unknown argument: EXPORT', '"EXPORT" is not a command', 'Did you mean export? See `evidence --help`.'],
  [['list'], 'Unknown argument: list', '"list" is not a command', 'Did you mean runs? See `evidence --help`.'],
  [['wholly-other'], 'x', '"wholly-other" is not a command', 'See `evidence --help`.'],
  [['sk_live_0123456789'], 'x', 'a word that was given is not a command', 'See `evidence --help`.'],
  [['--hlep'], 'Name a command.', '--hlep is not a flag of `evidence`', 'Did you mean --help? See `evidence --help`.'],
  [
    ['export', '--perod=sk_live_0123456789'],
    'Unknown argument: perod',
    '--perod is not a flag of `evidence export`',
    'Did you mean --period? See `evidence export --help`.',
  ],
  [
    ['export', '--all-tiem'],
    'Unknown arguments: all-tiem, allTiem',
    '--all-tiem is not a flag of `evidence export`',
    'Did you mean --all-time? See `evidence export --help`.',
  ],
  [
    ['export', '--bogs'],
    'Unknown argument: bogs',
    '--bogs is not a flag of `evidence export`',
    'See `evidence export --help`.',
  ],
  [
    ['export', '--sk_live_0123456789'],
    'Unknown argument: sk_live_0123456789',
    'what begins with - there is not a flag of `evidence export`',
    'See `evidence export --help`.',
  ],
  [
    ['export', 'sk_live_0123456789'],
    'Unknown argument: sk_live_0123456789',
    'a word that was given is not expected here',
    'See `evidence export --help`.',
  ],
  [
    ['export', '--period', 'sk_live_0123456789'],
    'Invalid values:\n  Argument: mode, Given: "sk_live_0123456789", Choices: "a", "b"',
    'the value of mode is none of "a", "b"',
    'See `evidence export --help`.',
  ],
  [
    ['export', '--perod', 'x'],
    'Missing required argument: period',
    '--perod is not a flag of `evidence export`',
    'Did you mean --period? See `evidence export --help`.',
  ],
  [
    ['export', '--period', 'x'],
    'Missing required argument: reason',
    '--reason is missing',
    'See `evidence export --help`.',
  ],
  [['export'], 'Missing required argument: reason', '--reason is missing', 'See `evidence export --help`.'],
  [
    ['export'],
    'Not enough non-option arguments: got 0, need at least 1',
    'an argument of this command is missing',
    'See `evidence export --help`.',
  ],
];

describe('what is said of a command line that cannot be read', () => {
  test.each(ROWS)('%j', async (words, complaint, says, next) => {
    const helpOn = async (command: string | null) => HELP[command ?? ''] ?? '';
    const error = await toUsageError(complaint, { program: 'evidence', words, helpOn });
    expect([error.code, error.message, error.nextStep]).toEqual(['usage', says, next]);
  });
});

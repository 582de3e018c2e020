import { describe, expect, test } from 'vitest';
import type { Program } from '../../../src/core/terminal/command-table.ts';
import { parse } from '../../../src/core/terminal/parse.ts';

const PROGRAM: Program<string> = {
  name: 'evidence',
  flags: { verbose: { type: 'boolean', alias: 'v', describe: 'more' } },
  demand: 'Name a command.',
  commands: {
    export: {
      describe: 'export a period',
      flags: {
        period: { describe: 'a month, not --bogus' },
        'all-time': { type: 'boolean', describe: 'everything' },
        years: { type: 'number', default: 7, describe: 'for how long' },
        mode: { choices: ['a', 'b'], describe: 'how' },
        stream: { array: true, describe: 'which' },
      },
      work: 'export',
    },
    hold: {
      operands: { run: { required: true, describe: 'a run' }, more: { describe: 'another' } },
      flags: { reason: { required: true, describe: 'why' }, by: { required: true, describe: 'who' } },
      work: 'hold',
    },
    verify: { operands: { targets: { array: true, default: [], describe: 'archives' } }, work: 'verify' },
    runs: { work: 'runs' },
    keys: { demand: 'Say what to do with keys: list.' },
    'keys list': { work: 'keys list' },
  },
};
const HELP = 'See `evidence --help`.';
const OF_EXPORT = 'See `evidence export --help`.';
const EMPTY = 'If it comes from a variable, the variable may be empty.';
const SECRET = 'sk_live_0123456789';

const REFUSED: [words: string[], says: string, next: string][] = [
  [['exprot'], '"exprot" is not a command', `Did you mean export? ${HELP}`],
  [['EXPORT'], '"EXPORT" is not a command', `Did you mean export? ${HELP}`],
  [['list'], '"list" is not a command', `Did you mean runs? ${HELP}`],
  [['wholly-other'], '"wholly-other" is not a command', HELP],
  [['exprot', '--bogus'], '"exprot" is not a command', `Did you mean export? ${HELP}`],
  [[SECRET], 'the given word is not a command', HELP],
  [['--hlep'], '--hlep is not a flag of `evidence`', `Did you mean --help? ${HELP}`],
  [['--verbose'], 'Name a command.', HELP],
  [
    ['export', `--perod=${SECRET}`],
    '--perod is not a flag of `evidence export`',
    `Did you mean --period? ${OF_EXPORT}`,
  ],
  [['export', '--all-tiem'], '--all-tiem is not a flag of `evidence export`', `Did you mean --all-time? ${OF_EXPORT}`],
  [['export', '--bogs'], '--bogs is not a flag of `evidence export`', OF_EXPORT],
  [['export', '--constructor'], '--constructor is not a flag of `evidence export`', OF_EXPORT],
  [['export', '-x'], '-x is not a flag of `evidence export`', OF_EXPORT],
  [['export', '-xyz'], 'unexpected argument', OF_EXPORT],
  [['export', `--${SECRET}`], 'the argument that begins with - is not a flag of `evidence export`', OF_EXPORT],
  [['export', SECRET], 'unexpected argument', OF_EXPORT],
  [['export', '--', 'more'], 'unexpected argument "more"', OF_EXPORT],
  [['export', '--mode', SECRET], 'the value of mode must be one of "a", "b"', OF_EXPORT],
  [['export', '--period', 'x', '--period', 'y'], '--period is given more than once', OF_EXPORT],
  [['export', '--period'], '--period needs a value', `Give a value, or leave --period out. ${EMPTY}`],
  [['export', '--period', ''], '--period needs a value', `Give a value, or leave --period out. ${EMPTY}`],
  [['export', '--no-period'], '--period needs a value', `Give a value, or leave --period out. ${EMPTY}`],
  [['export', '--years'], '--years needs a value', `Give a value, or leave --years out. ${EMPTY}`],
  [['export', '--stream'], '--stream needs a value', `Give a value, or leave --stream out. ${EMPTY}`],
  [['export', '--stream', 'a', ''], '--stream needs a value', `Give a value, or leave --stream out. ${EMPTY}`],
  [['hold'], 'a required argument is missing', 'See `evidence hold --help`.'],
  [
    ['hold', '--resaon', 'x'],
    '--resaon is not a flag of `evidence hold`',
    'Did you mean --reason? See `evidence hold --help`.',
  ],
  [['hold', 'a'], '--reason and --by are missing', 'See `evidence hold --help`.'],
  [['hold', 'a', '--by', 'x'], '--reason is missing', 'See `evidence hold --help`.'],
  [['hold', 'a', '--run=b', '--by=x', '--reason=y'], '--run is given more than once', 'See `evidence hold --help`.'],
  [['verify', 'a', ''], 'the target is empty', `Give a value. ${EMPTY}`],
  [['keys'], 'Say what to do with keys: list.', 'See `evidence keys --help`.'],
  [['keys', 'lsit'], 'unexpected argument "lsit"', 'See `evidence keys --help`.'],
  [['keys', 'list', '--bogs'], '--bogs is not a flag of `evidence keys list`', 'See `evidence keys list --help`.'],
];

describe('what is said of a command line that cannot be read', () => {
  test.each(REFUSED)('%j', async (words, message, nextStep) => {
    await expect(parse(PROGRAM, words)).rejects.toMatchObject({ code: 'usage', message, nextStep });
  });
});

test.each<[words: string[], work: string, values: object]>([
  [['export'], 'export', { years: 7 }],
  [
    ['-v', 'export', '--all-time', '--years', '-3'],
    'export',
    { verbose: true, allTime: true, 'all-time': true, years: -3 },
  ],
  [['export', '--no-all-time', '--years=0x10'], 'export', { allTime: false, 'all-time': false, years: 16 }],
  [['export', '--stream', 'a', 'b', '--stream=-c'], 'export', { stream: ['a', 'b', '-c'], years: 7 }],
  [['hold', '007', '--by=x', '--reason', 'y'], 'hold', { run: '007', by: 'x', reason: 'y' }],
  [['hold', '--run=-x', '--by=x', '--reason', 'y'], 'hold', { run: '-x', by: 'x', reason: 'y' }],
  [['verify'], 'verify', { targets: [] }],
  [['verify', 'a', '--', '-b'], 'verify', { targets: ['a', '-b'] }],
  [['keys', 'list'], 'keys list', {}],
])('%j is read', async (words, work, values) => {
  expect(await parse(PROGRAM, words)).toEqual({ work, values });
});

test.each([['--help'], ['-h'], ['help'], ['export', '--bogus', '--help'], ['export', 'help']])(
  '%s %s asks for a help',
  async (...words) => {
    const called = words.includes('export') ? 'evidence export' : 'evidence <command>';
    expect(await parse(PROGRAM, words)).toMatch(new RegExp(`^${called}\n`));
  },
);

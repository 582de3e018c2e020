import { expect, test } from 'vitest';
import { find, type Program } from '../../../src/core/terminal/command-table.ts';
import { helpOn, reflow } from '../../../src/core/terminal/help.ts';

test('lines of a help are broken between words, after what they explain', () => {
  const help =
    'evidence export\n\n  -v, --verbose  every request and every retry that there is  [boolean]\n      --json     short';
  expect(reflow(help, 40).split('\n')).toEqual([
    'evidence export',
    '',
    '  -v, --verbose  every request and every',
    '                 retry that there is',
    '                 [boolean]',
    '      --json     short',
  ]);
  expect(reflow(help, 100)).toBe(help);
});

const PROGRAM: Program = {
  name: 'evidence',
  describe: 'Evidence, in archives.',
  flags: { verbose: { type: 'boolean', alias: 'v', describe: 'more' } },
  epilogue: () => 'The end.',
  commands: {
    verify: {
      describe: 'verify them',
      operands: {
        how: { required: true, choices: ['fast', 'well'], describe: 'how well' },
        targets: { array: true, describe: 'archives' },
      },
      flags: {
        'locked-for': { describe: 'so many days', default: '90d' },
        years: { type: 'number', required: true, describe: 'so many years' },
      },
      examples: [
        ['$0 verify fast', 'in a hurry'],
        ['$0 verify well archive', ''],
      ],
    },
    keys: { describe: 'keys' },
    'keys list': { describe: 'list them' },
  },
};

test('the help on a program lists its commands, flags of all of them, and how it ends', () => {
  expect(helpOn(find(PROGRAM, [])).split('\n')).toEqual([
    'evidence <command>',
    '',
    'Evidence, in archives.',
    '',
    'Commands:',
    '  evidence verify <how> [targets..]  verify them',
    '  evidence keys                      keys',
    '',
    'Options:',
    '  -v, --verbose  more  [boolean]',
    '  -h, --help     Show help  [boolean]',
    '  -V, --version  Show version number  [boolean]',
    '',
    'The end.',
  ]);
});

test('the help on a command lists what it takes, and examples', () => {
  expect(helpOn(find(PROGRAM, ['verify', 'fast'])).split('\n')).toEqual([
    'evidence verify <how> [targets..]',
    '',
    'verify them',
    '',
    'Positionals:',
    '  how      how well  [required] [choices: "fast", "well"]',
    '  targets  archives  [array]',
    '',
    'Options:',
    '  -v, --verbose     more  [boolean]',
    '      --locked-for  so many days  [string] [default: "90d"]',
    '      --years       so many years  [number] [required]',
    '  -h, --help        Show help  [boolean]',
    '  -V, --version     Show version number  [boolean]',
    '',
    'Examples:',
    '  evidence verify fast          in a hurry',
    '  evidence verify well archive',
  ]);
});

test('the help on a command lists the commands within it', () => {
  expect(helpOn(find(PROGRAM, ['keys']))).toContain('\nCommands:\n  evidence keys list  list them\n');
  expect(helpOn(find(PROGRAM, ['keys', 'list']))).toMatch(/^evidence keys list\n\nlist them\n\nOptions:\n/);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import yargs from 'yargs';
import { COMMANDS, type CommandRow } from '../../../src/exporter/cli/commands.ts';
import { evidence } from '../../support/evidence.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'given-twice-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

interface Known {
  array: string[];
  string: string[];
  number: string[];
  demandedOptions: Record<string, unknown>;
  choices: Record<string, string[]>;
}

/** Its flags that mean one thing, and what it cannot do without. */
function flagsOf({ flags, operands }: CommandRow) {
  const parser = flags(yargs([])) as unknown as { getOptions(): Known };
  const { array, string, number, demandedOptions, choices } = parser.getOptions();
  const names = [...string, ...number].filter((name) => /^[a-z-]+$/.test(name) && !operands.includes(name));
  const placeholderOf = (operand: string) => choices[operand]?.[0] ?? 'x';
  return {
    single: names.filter((name) => !array.includes(name)),
    demanded: Object.keys(demandedOptions),
    placeholderOf,
  };
}

describe.each(COMMANDS.filter((row) => flagsOf(row).single.length > 0))('$usage', (row) => {
  const { single, demanded, placeholderOf } = flagsOf(row);
  const [command = ''] = row.usage.split(' ');
  const operands = [...row.usage.matchAll(/<(\w+)>/g)].map(([, operand = '']) => placeholderOf(operand));

  test.each(single)('--%s twice is refused, and nothing is done', async (name) => {
    const others = demanded.filter((one) => one !== name && !row.operands.includes(one));
    const words = [command, ...operands, ...others.flatMap((one) => [`--${one}`, '1'])];
    const { code, stderr } = await evidence([...words, `--${name}`, '1', `--${name}`, '2'], { cwd });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`evidence: --${name} is given more than once
See `),
    ]);
  });
});

test('a switch, and a flag that may have several values, may be repeated', async () => {
  const { code, stderr } = await evidence(
    ['verify', 'x', '--quiet', '--quiet', '--require', 'order', '--require', 'seal'],
    {
      cwd,
    },
  );
  expect([code, stderr]).toEqual([2, expect.stringContaining('there is nothing to verify at x')]);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandTable } from '../../../src/core/terminal/command-table.ts';
import { COMMANDS } from '../../../src/exporter/cli/commands.ts';
import { evidence } from '../../support/evidence.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'given-twice-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** Returns flags with one value, and the words that the command requires. */
function wordsOf({ operands = {}, flags = {} }: CommandTable) {
  const demanded = Object.values(operands).flatMap(({ required, choices }) => (required ? [choices?.[0] ?? 'x'] : []));
  const single = Object.entries(flags).filter(
    ([, { type, array, choices }]) => type !== 'boolean' && !array && choices === undefined,
  );
  const others = (but: string) =>
    single.flatMap(([name, { required }]) => (required && name !== but ? [`--${name}`, '1'] : []));
  return { demanded, single: single.map(([name]) => name), others };
}

const ROWS = Object.entries(COMMANDS).flatMap(([command, table]) => {
  const { demanded, single, others } = wordsOf(table);
  return single.map((name) => ({ name, words: [command, ...demanded, ...others(name)] }));
});

test('there are such flags', () => {
  expect(ROWS.length).toBeGreaterThan(50);
});

test.each(ROWS)('$words --$name twice is refused, and nothing is done', async ({ name, words }) => {
  const { code, stderr } = await evidence([...words, `--${name}`, '1', `--${name}`, '2'], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`evidence: --${name} is given more than once\nSee `)]);
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

import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../../../src/core/terminal/exit.ts';
import { explainWith } from '../../../../src/exporter/cli/commands/help.ts';
import { listOfTopics, readTopics } from '../../../../src/exporter/cli/output/topics.ts';
import { carryOut } from '../../../support/command.ts';

const PROGRAM = {
  name: 'evidence',
  commands: { export: {}, share: {}, verify: { describe: 'verify archives' } },
};
const command = explainWith(PROGRAM);
const help = (topic: string, json = false) => carryOut(command, { topic }, tmpdir(), { json });

test('every topic has a name, a title of one line and a text, and is listed', () => {
  for (const { name, title, text } of readTopics()) {
    expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(text.startsWith(`# ${title}\n`), name).toBe(true);
    expect(title.length, name).toBeLessThanOrEqual(66);
    expect(listOfTopics()).toMatch(new RegExp(`^  ${name} +${title.replace(/[.()]/g, '\\$&')}$`, 'm'));
  }
});

test.each(readTopics().map(({ name }) => name))('%s fits a narrow terminal, but for its code', async (name) => {
  const { code, stdout } = await help(name);
  expect(code).toBe(0);
  const lines = stdout.split('\n').filter((line) => !line.startsWith('    '));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

test('the exit codes are those of the one table', async () => {
  const { stdout } = await help('exit-codes');
  const codes = [...stdout.matchAll(/^(\d+) {2,}\S/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(EXIT_CODES.map(([code]) => code));
});

test('a command explains itself', async () => {
  const { code, stdout } = await help('verify');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^evidence verify\n\nverify archives\n\nOptions:\n/)]);
  expect((await help('verify', true)).document).toEqual({
    format: 'evidence-help/1',
    command: 'verify',
    usage: stdout.trimEnd(),
  });
});

test('a command and a topic of one name are both explained', async () => {
  const [share] = readTopics().filter(({ name }) => name === 'share');
  const { stdout } = await help('share');
  expect(stdout).toMatch(/^evidence share\n/);
  expect(stdout).toContain(`[boolean]\n\n${share?.title}\n`);
  expect((await help('share', true)).document).toMatchObject({ command: 'share', topic: 'share', text: share?.text });
});

test.each([
  [
    'configurtion',
    'unknown topic or command "configurtion"',
    /^Did you mean configuration\? The topics are archive, /m,
  ],
  ['Claims2', 'unknown topic or command', /^Did you mean claims\? /m],
  ['exprt', 'unknown topic or command "exprt"', /^Did you mean export\? /m],
  ['sk_0123456789', 'unknown topic or command', /^The topics are archive, /m],
])('%s is none', async (topic, words, next) => {
  const { code, said, stderr } = await help(topic);
  expect([code, said]).toEqual([2, words]);
  expect(stderr).toMatch(next);
});

test('a program gets the text as it stands', async () => {
  const { document } = await help('claims', true);
  const [claims] = readTopics().filter(({ name }) => name === 'claims');
  expect(document).toEqual({ format: 'evidence-help/1', topic: 'claims', title: claims?.title, text: claims?.text });
});

import { spawn } from 'node:child_process';
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cleanEnvironment } from '../support/environment.ts';
import { builtFolder, EVIDENCE, finish, nodeToEnd, run, runToEnd, SENSOR } from '../support/process.ts';

const root = resolve(import.meta.dirname, '../..');
const valid = join(root, 'test/vectors/chain/valid.json');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const PROGRAMS = ['evidence', 'evidence-platform'];

/** Writes a file that, loaded first, makes Node.js report an older version. */
function olderNode(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'older-')), 'older.cjs');
  writeFileSync(file, "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });\n");
  return file;
}

describe.each(PROGRAMS)('%s', (name) => {
  const built = `start/${name}.cjs`;

  test('starts, from its sources and built', async () => {
    for (const file of [join(root, 'src', built), built]) {
      const { code, stdout, stderr } = await nodeToEnd(file, ['--help'], { cwd: tmpdir() });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`${name} <command>`);
    }
  });

  test('names the Node.js that it needs to one that is too old, and nothing is refuted', async () => {
    const options = { cwd: tmpdir(), nodeFlags: ['--require', olderNode()] };
    const { code, stdout, stderr } = await nodeToEnd(built, ['--help'], options);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`^${name}: needs Node\\.js 24 or newer, and this is v\\S+ at /\\S+\n.*npm ci`));
  });

  test.each([
    ['is read by nobody', '| head -0', 0, /^$/],
    ['cannot be written', '> /dev/full', 3, /^\S+: the result cannot be written to stdout: .*ENOSPC/],
  ])('whose output %s ends as the table says', async (_what, into, wanted, said) => {
    const program = `${process.execPath} ${join(builtFolder(), 'dist', built)} --help`;
    const { code, stderr } = await runToEnd('bash', ['-c', `set -o pipefail; ${program} ${into}`], { cwd: tmpdir() });
    expect(code, stderr).toBe(wanted);
    expect(stderr).toMatch(said);
  });

  test('is the command that the package installs', () => {
    expect(manifest.bin[name]).toBe(`dist/${built}`);
  });
});

test('every Node.js can read the launchers, and they need what the package says', () => {
  const launchers = [...PROGRAMS, 'start'].map((name) => readFileSync(join(root, `src/start/${name}.cjs`), 'utf8'));
  for (const text of launchers)
    expect(withoutComments(text)).not.toMatch(/=>|`|\b(const|let|class)\b|import ?\(|\?\.|\?\?|,\s*\)/);
  expect(`>=${/NEEDED = (\d+)/.exec(launchers.join(''))?.[1]}`).toBe(manifest.engines.node);
});

describe('evidence-sensor', () => {
  /** Copies the file alone into a folder, without the rest of the package. */
  function alone(): string {
    const file = join(mkdtempSync(join(tmpdir(), 'sensor-')), SENSOR);
    copyFileSync(join(builtFolder(), 'dist', SENSOR), file);
    return file;
  }

  test('is one file that starts without the package', async () => {
    const { code, stdout, stderr } = await nodeToEnd(alone(), ['--help'], { cwd: tmpdir() });
    expect([code, stderr, stdout]).toEqual([0, '', expect.stringMatching(/^evidence-sensor --url /)]);
    expect((await nodeToEnd(alone(), ['--version'], { cwd: tmpdir() })).stdout).toBe(`${manifest.version}\n`);
    expect(manifest.bin['evidence-sensor']).toBe(`dist/${SENSOR}`);
  });

  test('names the Node.js that it needs to one that is too old', async () => {
    const options = { cwd: tmpdir(), nodeFlags: ['--require', olderNode()] };
    const { code, stderr } = await nodeToEnd(alone(), ['--help'], options);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^evidence-sensor needs Node\.js >=24; this is v/)]);
  });

  test.each([
    [['--unknown'], /^Unknown option '--unknown'\n/],
    [['--url'], /^Option '--url <value>' argument missing\n/],
    [['--url', 'https://a.example', 'more'], /^Unexpected argument 'more'\n/],
    [['--url', 'https://a.example', '--url', 'https://b.example'], /^--url is given more than once\n/],
    [['--once=1'], /^Option '--once' does not take an argument\n/],
  ])('refuses %j', async (args, said) => {
    const { code, stderr } = await nodeToEnd(alone(), args, { cwd: tmpdir() });
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
    expect(stderr).toContain('See evidence-sensor --help.');
  });
});

test('packages that are not installed are named, with how to install them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bare-'));
  await run('cp', ['-r', join(builtFolder(), 'dist'), folder]);
  writeFileSync(join(folder, 'package.json'), readFileSync(join(root, 'package.json')));
  const { code, stderr } = await nodeToEnd(join(folder, 'dist/start/evidence-platform.cjs'), ['init'], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^evidence-platform: cannot start: Cannot find package .*\nInstall what it needs: npm ci/);
});

function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/\*\*).*$/gm, '');
}

/** Runs `evidence` with stdout redirected by the shell. */
async function shell(command: string) {
  const program = `${process.execPath} ${join(builtFolder(), 'dist', EVIDENCE)}`;
  return runToEnd('bash', ['-c', `set -o pipefail; ${command.replaceAll('evidence', program)}`], { cwd: tmpdir() });
}

describe('stdout', () => {
  test.each([
    [`evidence verify ${valid} | head -1`],
    [`evidence verify ${valid} --json | head -1`],
    [`evidence verify ${valid} | true`],
    ['evidence --help | head -1'],
    ['evidence help exit-codes | true'],
  ])('closed early is no news: %s', async (command) => {
    expect(await shell(command)).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([
    [`evidence verify ${valid} > /dev/full`, 3],
    [`evidence verify ${valid} --json > /dev/full`, 3],
    [`evidence verify ${join(root, 'test/vectors/chain/edited.json')} > /dev/full`, 1],
    ['evidence doctor --audit-url http://127.0.0.1:9 > /dev/full', 2],
  ])('that cannot be written to is named: %s', async (command, code) => {
    const ended = await shell(command);
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.stderr.match(/the result cannot be written to stdout: .*ENOSPC/g)).toHaveLength(1);
    expect(ended.stderr).not.toMatch(/\n {4}at /);
  });
});

test('what breaks outside of a command is a defect, and nothing is refuted', async () => {
  const hook = join(mkdtempSync(join(tmpdir(), 'broken-')), 'broken.mjs');
  writeFileSync(hook, "setTimeout(() => { throw new Error('out of the blue'); }, 20); setTimeout(() => {}, 5000);\n");
  const late = await nodeToEnd(EVIDENCE, ['verify', valid], { cwd: tmpdir(), nodeFlags: ['--import', hook] });
  expect(late.code).toBe(70);
  expect(late.stderr).toContain('a defect in this program: Error: out of the blue');
});

test('a closed stdout is no crash', async () => {
  const closed = openSync('/dev/null', 'r');
  const child = spawn(process.execPath, [join(builtFolder(), 'dist', EVIDENCE), 'verify', valid], {
    env: cleanEnvironment(),
    stdio: ['ignore', closed, 'pipe'],
  });
  const { code, stderr } = await finish(child);
  closeSync(closed);
  expect([code, stderr]).toEqual([3, expect.stringMatching(/the result cannot be written to stdout: .*EBADF/)]);
});

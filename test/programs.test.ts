import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runToEnd } from './support/process.ts';

const script = join(import.meta.dirname, 'programs.sh');
/** Programs of a machine that lacks the tests' requirements, except for those that every machine has. */
const BARE = ['env', 'sed', 'sh'];

let bin: string;
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'programs-'));
  for (const name of BARE) symlinkSync(join('/usr/bin', name), join(bin, name));
});
afterEach(() => rmSync(bin, { recursive: true }));

/** Adds a program that records its arguments. */
function add(name: string, lines = ''): void {
  writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >>'${join(bin, 'calls')}'\n${lines}`);
  chmodSync(join(bin, name), 0o755);
}

const calls = () => readFileSync(join(bin, 'calls'), 'utf8');
const start = () => runToEnd('/bin/sh', [script], { cwd: bin, env: { PATH: bin } });

test('without apt-get, all packages are named at once, and nothing else happens', async () => {
  const { code, stdout, stderr } = await start();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  for (const name of ['age', 'chromium-headless-shell', 'jq', 'python3', 'zip', 'libclang-rt-14-dev'])
    expect(stderr).toMatch(new RegExp(`[ ]${name}( |$)`, 'm'));
  expect(stderr).toContain('npm run test:unit needs none of these programs');
});

test('without root and sudo, the command for root is named', async () => {
  add('apt-get');
  add('id', 'echo 1000');
  const { code, stdout, stderr } = await start();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^apt-get update && apt-get install --no-install-recommends age aide .* zip /m);
  expect(calls()).not.toContain('apt-get');
});

test.each([
  ['root', 0, ''],
  ['somebody with sudo', 1000, 'sudo '],
])('%s has it said before it is installed', async (_who, uid, prefix) => {
  add('id', `echo ${uid}`);
  add('sudo', '"$@"');
  add('apt-get');
  add('apt-cache', 'echo "  Depends: clang-99"');
  for (const name of ['mkdir', 'tee', 'jq']) add(name);
  const { code, stdout, stderr } = await start();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    new RegExp(`^The tests need .* Installing with apt-get${prefix && ' through sudo'}: age aide `),
  );
  const [installed = ''] = calls()
    .split('\n')
    .filter((line) => line.startsWith('apt-get install'));
  expect(installed).toMatch(/--no-install-recommends age aide .* zip libclang-rt-99-dev$/);
  expect(installed).not.toMatch(/ jq /);
  expect(calls().includes('sudo apt-get update')).toBe(prefix !== '');
});

test('a machine that has them all is left alone, without a word', async () => {
  const { code, stdout, stderr } = await runToEnd('/bin/sh', [script], { cwd: bin });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
});

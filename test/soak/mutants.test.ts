import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment } from '../support/environment.ts';
import { MUTANTS } from './mutants.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const WASM = 'src/verifier/decode/wasm';
const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
/** vitest removes the temporary folder of its run, so it gets a separate one. */
const env = cleanEnvironment({ TMPDIR: join(copy, 'tmp') });

beforeAll(() => {
  mkdirSync(join(copy, 'tmp'));
  for (const name of ['src', 'test', 'templates', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true }));

/** True if the decoder's quick tests pass in the copy. */
async function passes(): Promise<boolean> {
  await run('sh', [join(copy, WASM, 'build.sh')], { cwd: copy, env });
  const vitest = join(ROOT, 'node_modules/.bin/vitest');
  const args = ['run', '--config', 'test/vitest.config.ts', '--project', 'unit', '--bail', '1', 'test/verifier/decode'];
  return run(vitest, args, { cwd: copy, env, maxBuffer: 2 ** 26 }).then(
    () => true,
    () => false,
  );
}

test('without a change they pass', { timeout: 600_000 }, async () => {
  expect(await passes()).toBe(true);
});

test.each(MUTANTS)('caught: $file without "$rule"', { timeout: 600_000 }, async ({ file, from, to }) => {
  const path = join(copy, WASM, file);
  const text = readFileSync(path, 'utf8');
  expect(text.split(from).length, 'places of what is changed').toBe(2);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    expect(await passes()).toBe(false);
  } finally {
    writeFileSync(path, text);
  }
});

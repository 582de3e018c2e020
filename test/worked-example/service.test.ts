import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run, runToEnd } from '../support/process.ts';

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, '../..');
const NODE = process.execPath;
const VITEST = 'node_modules/vitest/vitest.mjs';

let scratch: string;

/** Copies the project, and adds the example's service and its line in the list of services. */
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'worked-example-'));
  for (const name of (await run('git', ['ls-files'], ROOT)).trim().split('\n'))
    await cp(join(ROOT, name), join(scratch, name));
  await symlink(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
  await cp(join(HERE, 'overlay'), scratch, { recursive: true });
  const list = join(scratch, 'src/platform/modules.ts');
  const text = await readFile(list, 'utf8');
  const grown = text
    .replace('import { traps }', "import { notes } from './notes/module.ts';\nimport { traps }")
    .replace('MODULES = [', 'MODULES = [notes, ');
  await writeFile(list, grown);
  // The inner test run removes its own temporary folder.
  await mkdir(join(scratch, '.tmp'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

test('a service is a folder and a line: it compiles, and its tests pass', async () => {
  const example = {
    extends: '../tsconfig.json',
    include: ['../src', '../test/platform/notes'],
    exclude: ['../src/exporter/browser'],
  };
  await writeFile(join(scratch, '.tmp/example.json'), JSON.stringify(example));
  await run(
    NODE,
    ['node_modules/typescript/bin/tsc', '-p', '.tmp/example.json', '--noEmit', '--incremental', 'false'],
    scratch,
  );
  const { passed, failed } = await tests('test/platform/notes/notes.test.ts');
  expect(failed).toEqual([]);
  expect(passed).toBe(4);
});

test('it is within the rules of the house', async () => {
  expect(await tests('test/architecture.test.ts')).toMatchObject({ failed: [] });
});

interface Report {
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[];
}

/** Runs a test file in the copy. */
async function tests(file: string): Promise<{ passed: number; failed: string[] }> {
  const path = join(scratch, 'report.json');
  const words = ['run', '--config', 'test/vitest.config.ts', file, '--reporter=json', `--outputFile=${path}`];
  const { stderr } = await runToEnd(NODE, [VITEST, ...words], { cwd: scratch, env: { TMPDIR: join(scratch, '.tmp') } });
  const report: Report = JSON.parse(await readFile(path, 'utf8').catch(() => Promise.reject(new Error(stderr))));
  await rm(path);
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.filter(({ status }) => status !== 'passed');
  return {
    passed: all.length - failed.length,
    failed: failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('; ')}`),
  };
}

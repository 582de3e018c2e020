import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment, finish, run, startNode } from '../support/process.ts';

const root = resolve(import.meta.dirname, '../..');
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'install-test-'));
  await run('npm', ['pack', '--silent', '--pack-destination', folder], root);
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['init', '-y'], folder);
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, tarball)], folder);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('npx evidence demo works in a folder in which the package is installed', async () => {
  const child = spawn('npx', ['--no-install', 'evidence', 'demo'], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await finish(child);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^npm +\d{2,} .* verified$/m);
  expect(readdirSync(join(folder, 'evidence-archive'))).toEqual(expect.arrayContaining(['ledger', 'runs']));
}, 120_000);

test('both commands answer --help', async () => {
  const bin = join(folder, 'node_modules/evidence-exporter/dist');
  for (const [script, name] of [
    ['cli/main.js', 'evidence <command>'],
    ['platform/main.js', 'evidence-platform'],
  ] as const) {
    const { code, stdout } = await finish(startNode(join(bin, script), ['--help'], { cwd: folder }));
    expect([code, stdout]).toEqual([0, expect.stringContaining(name)]);
  }
});

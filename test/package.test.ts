import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'rolldown';
import { expect, test } from 'vitest';
import { packageFile, programUrl } from '../src/core/install-paths.ts';
import config from '../src/rolldown.config.mts';
import { nodeToEnd } from './support/process.ts';

const root = resolve(import.meta.dirname, '..');

test('in the sources, files are found below the checkout and programs are sources', () => {
  expect(packageFile('package.json')).toBe(join(root, 'package.json'));
  expect(programUrl('exporter/cli/main').href).toBe(pathToFileURL(join(root, 'src/exporter/cli/main.ts')).href);
});

test('in dist, wherever the bundler put the code that asks, and programs are built ones', async () => {
  const app = mkdtempSync(join(tmpdir(), 'package-'));
  const output = { ...config.output, dir: join(app, 'dist') };
  const ownPlace = join(import.meta.dirname, 'support/own-place.ts');
  await build({ ...config, input: { ...Object(config.input), 'further/down/here': ownPlace, here: ownPlace }, output });
  copyFileSync(join(root, 'package.json'), join(app, 'package.json'));
  for (const program of ['dist/further/down/here.js', 'dist/here.js']) {
    const { stdout, stderr } = await nodeToEnd(join(app, program), [], { cwd: tmpdir() });
    const expected = [join(app, 'package.json'), pathToFileURL(join(app, 'dist/exporter/cli/main.js')).href];
    expect(stdout === '' ? stderr : JSON.parse(stdout), program).toEqual(expected);
  }
});

test('a program can be started as a worker', async () => {
  const worker = new Worker(programUrl('platform/main'), { argv: ['--help'], stdout: true, env: {} });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const text = (await worker.stdout.toArray()).join('');
  expect([await ended, text]).toEqual([0, expect.stringContaining('evidence-platform <command>')]);
});

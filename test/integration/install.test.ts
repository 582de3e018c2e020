import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainOf, packageOf } from '../support/chain.ts';
import { installInto } from '../support/installed.ts';
import { nodeToEnd, run, runToEnd } from '../support/process.ts';

const root = resolve(import.meta.dirname, '../..');
const valid = join(root, 'test/vectors/chain/valid.json');
const hook = join(root, 'test/support/loaded-packages.ts');
const BLOCK_BYTES = 4096;
let folder: string;
let installed: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'install-test-'));
  installed = await installInto(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('npx evidence demo works in a folder in which the package is installed', async () => {
  const { code, stdout, stderr } = await runToEnd('npx', ['--no-install', 'evidence', 'demo'], { cwd: folder });
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^npm +\d{2,} .* verified$/m);
  expect(readdirSync(join(folder, 'evidence-archive'))).toEqual(expect.arrayContaining(['ledger', 'runs']));
  // npm, a platform and an export of all its streams take minutes while eight other programs run.
}, 900_000);

test('an installation takes no more than 150 MB of the disk', async () => {
  const modules = join(folder, 'node_modules');
  const places = readdirSync(modules, { recursive: true, encoding: 'utf8' });
  // Files occupy whole blocks, and a folder occupies one; the test counts them, because file systems count folders
  // differently.
  const blocks = places.map((place) => Math.max(1, Math.ceil(lstatSync(join(modules, place)).size / BLOCK_BYTES)));
  expect(blocks.reduce((sum, each) => sum + each, 0) * BLOCK_BYTES).toBeLessThan(150_000_000);
});

test('both commands answer --help, in English as everything they print, like their sources', async () => {
  for (const [program, name] of [
    ['exporter/cli/main', 'evidence <command>'],
    ['platform/main', 'evidence-platform'],
  ] as const) {
    const help = (script: string) => nodeToEnd(script, ['--help'], { cwd: folder, env: { LC_ALL: 'de_DE.UTF-8' } });
    const built = await help(join(installed, `dist/${program}.js`));
    expect(built).toMatchObject({ code: 0, stdout: expect.stringContaining(name) });
    expect(built.stdout).toMatch(/^Options:$/m);
    expect((await help(join(root, `src/${program}.ts`))).stdout).toBe(built.stdout);
  }
});

test('what lies where the user stands is not read, though it has the name of a package', async () => {
  const cwd = mkdtempSync(join(folder, 'stands-'));
  // Reading a FIFO blocks forever.
  await run('mkfifo', ['package.json'], cwd);
  const { code, stderr } = await nodeToEnd(join(installed, 'dist/exporter/cli/main.js'), ['verify', valid, '--json'], {
    cwd,
  });
  expect(code, stderr).toBe(0);
});

test('a package is verified', async () => {
  const { code, stdout, stderr } = await nodeToEnd(
    join(installed, 'dist/exporter/cli/main.js'),
    ['verify', valid, '--json'],
    { cwd: folder },
  );
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'verified', streams: [{ status: 'verified' }] });
});

describe('a command loads only the packages that it needs, and few files of ours', () => {
  const ofContracts = ['fastest-levenshtein', 'yaml', 'zod'];
  const contract = join(root, 'templates/contract/default.yaml');
  test.each([
    ['--help', [], [], 12],
    ['verify', [valid], [], 20],
    ['verify', [valid, '--contract', contract], ofContracts, 28],
  ])('%s %j', async (command, args, packages, files) => {
    const loaded = join(folder, 'loaded.json');
    const { code, stderr } = await nodeToEnd(join(installed, 'dist/exporter/cli/main.js'), [command, ...args], {
      cwd: folder,
      env: { LOADED_PACKAGES: loaded },
      nodeFlags: ['--import', hook],
    });
    expect(code, stderr).toBe(0);
    const { 'evidence-exporter': ours, ...others } = JSON.parse(readFileSync(loaded, 'utf8'));
    expect(Object.keys(others).sort()).toEqual(packages);
    expect(ours).toBeLessThanOrEqual(files);
  });
});

test('what is loaded is ASCII alone: V8 keeps any other file in twice the memory', () => {
  const names = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' });
  const loaded = names.filter((name) => name.endsWith('.js') && !/^browser|browser\.js$/.test(name));
  expect(loaded.length).toBeGreaterThan(100);
  for (const name of loaded)
    expect(readFileSync(join(installed, 'dist', name), 'latin1'), name).not.toMatch(/[^\0-\x7F]/);
});

test('threads are told to start before what verifies is loaded', () => {
  const shared = join(installed, 'dist/shared');
  const textOf = (name: string) => readFileSync(join(shared, name), 'utf8');
  const first = readdirSync(shared).filter((name) => textOf(name).includes('async function runVerify('));
  const loaded = new Set(first);
  for (const name of loaded)
    for (const [, next = ''] of textOf(name).matchAll(/^import .*"\.\/(.+)";$/gm)) loaded.add(next);
  expect([...loaded].map((name) => name.replace(/\d*\.js$/, '')).sort()).toEqual(['core', 'range-threads', 'verify']);
});

test('a package is verified by several threads', async () => {
  const sent = join(folder, 'sent.json');
  writeFileSync(sent, JSON.stringify(packageOf(chainOf(5000))));
  const { code, stdout, stderr } = await nodeToEnd(
    join(installed, 'dist/exporter/cli/main.js'),
    ['verify', sent, '--json', '--threads', '2'],
    {
      cwd: folder,
      nodeFlags: ['--import', resolve(import.meta.dirname, '../support/awaited-threads.mjs')],
    },
  );
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ streams: [{ entries: 5000, status: 'verified' }] });
  expect(stderr).toMatch(/^segments [1-9]/m);
});

test('what dist holds of other packages has its licence there', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const places = Object.keys(packages);
  /** Returns the names of packages and of all their dependencies. */
  const withAllTheyNeed = (names: readonly string[], seen = new Map<string, string>()): string[] => {
    for (const place of places.filter((each) => names.includes(each.replace(/^.*node_modules\//, '')))) {
      if (seen.has(place)) continue;
      const { name = place.replace(/^.*node_modules\//, ''), dependencies = {} } = packages[place];
      withAllTheyNeed(Object.keys(dependencies), seen.set(place, name));
    }
    return [...seen.values()];
  };
  const licences = readFileSync(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8').split(/^-{80}$/m);
  const permission =
    /Permission (is hereby granted|to use)|Redistribution and use|TERMS AND CONDITIONS FOR USE|everyone as much permission/;
  for (const text of licences) expect(text).toMatch(permission);
  const titles = licences.map((text) => /\S+/.exec(text)?.[0]);
  const inTheBrowser = ['@noble/hashes', 'fastest-levenshtein', 'yaml', 'zod'];
  const bundled = ['age-encryption', 'archiver', 'diff', 'kysely', 'pdf-lib', 'tar-stream', 'yargs', ...inTheBrowser];
  const direct = bundled.map((name) => packages[`node_modules/${name}`].name ?? name);
  expect(titles).toEqual(expect.arrayContaining(direct));
  // dist lacks some dependencies: yargs bundles its own copies for ES modules.
  expect(withAllTheyNeed(bundled)).toEqual(expect.arrayContaining(titles));
  // Readers share reports without dist, so each report needs its license texts.
  const verifier = readFileSync(join(installed, 'dist/browser/verifier.js'), 'utf8');
  for (const name of withAllTheyNeed(inTheBrowser)) expect(verifier).toContain(`\n${name} `);
  // The bundler writes a module's origin above it, unless it inlines the module.
  const scripts = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  const origins = scripts.flatMap((name) => [
    ...readFileSync(join(installed, name), 'utf8').matchAll(/^\/\/ node_modules\/((?:@[^/\s]+\/)?[^/\s]+)/gm),
  ]);
  expect(origins).not.toEqual([]);
  for (const [, place = ''] of origins) expect(titles).toContain(packages[`node_modules/${place}`].name ?? place);
});

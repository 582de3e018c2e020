import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const {
  dependencies,
  devDependencies,
}: Record<'dependencies' | 'devDependencies', Record<string, string>> = JSON.parse(read('package.json'));
const locked: Record<string, { version: string; license?: string; dev?: boolean }> = JSON.parse(
  read('package-lock.json'),
).packages;
const installed = Object.entries(locked).filter(([place, { dev }]) => place !== '' && dev !== true);
const nameOf = (place: string) => place.replace(/^.*node_modules\//, '');

/**
 * Programs that are run, not imported: this repository's Node.js, the compiler, the formatter, and a plugin that vitest
 * loads.
 */
const PROGRAMS = ['node', 'typescript', '@biomejs/biome', '@vitest/coverage-v8'];

/** Packages whose dependents ask for different versions; no newer dependent agrees. */
const IN_TWO_VERSIONS = ['@peculiar/utils', 'asn1js', 'fast-uri', 'tslib'];

/** SPDX names; for an alternative (`OR`), the distributor chooses. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0'];
const isPermissive = (license = 'none') =>
  license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((one) => PERMISSIVE.includes(one));

function namesImported(pattern: string): Set<string> {
  const texts = globSync(pattern, { cwd: root }).map(read);
  const modules = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import|import\(|require\(|resolve\() ?'([^'.][^']*)'/g)].map((match) => match[1] ?? ''),
  );
  return new Set(modules.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name));
}

test('what is installed with the program is imported by it, and nothing else is', () => {
  const imported = namesImported('src/**/*.{ts,mts,cjs}');
  expect(Object.keys(dependencies).filter((name) => !imported.has(name))).toEqual([]);
});

test('what only the work on it takes is imported by its tests or its build', () => {
  const imported = namesImported('{src,test}/**/*.{ts,mts}');
  const rest = Object.keys(devDependencies).filter((name) => !imported.has(name) && !PROGRAMS.includes(name));
  // Types belong to packages, or to Node.js.
  expect(rest.filter((name) => !name.startsWith('@types/'))).toEqual([]);
});

test('versions are exact', () => {
  const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^(npm:(@[^@]+|[^@]+)@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  );
  expect(ranges).toEqual([]);
});

test('no package is installed in two versions, but for those of which nobody has the choice', () => {
  const versions = Map.groupBy(installed, ([place]) => nameOf(place));
  const doubled = [...versions].filter(([, each]) => new Set(each.map(([, { version }]) => version)).size > 1);
  expect(doubled.map(([name]) => name).toSorted()).toEqual(IN_TWO_VERSIONS);
});

test('whatever is installed may be passed on', () => {
  const others = installed.filter(([, { license }]) => !isPermissive(license));
  expect(others.map(([place, { license }]) => `${nameOf(place)}: ${license}`)).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { IMPORT_RULES } from './support/architecture/imports.ts';
import { ROOT, readSources, sourceOf } from './support/architecture/sources.ts';
import { headlessComments, STYLE_RULES } from './support/architecture/style.ts';

const files = readSources();

describe.each([...IMPORT_RULES, ...STYLE_RULES])('$rule', ({ broken, allowed = [], isOfOneFile, example }) => {
  const [path, text, reported] = example;

  test('holds', () => {
    expect(broken(files).toSorted()).toEqual(allowed.toSorted());
  });

  test('is seen to be broken', () => {
    const others = isOfOneFile === true ? [] : files.filter((file) => file.path !== path);
    expect(broken([...others, sourceOf(path, text)])).toContain(reported);
  });
});

test('the sources are there', () => {
  expect(files.length).toBeGreaterThan(1000);
  expect(files.reduce((sum, { imports }) => sum + imports.length, 0)).toBeGreaterThan(3000);
});

/** The number may only fall. */
test('few comments of tests begin with a relative word', () => {
  const headless = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => headlessComments(readFileSync(join(import.meta.dirname, path), 'utf8')));
  expect(headless.length).toBeLessThanOrEqual(480);
});

test('what tests share has no hooks of its own: a worker loads it for the first file alone', () => {
  const root = resolve(import.meta.dirname);
  const shared = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && path !== join('support', 'own-variables.ts'),
  );
  const hooked = shared.filter((path) =>
    /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(join(root, path), 'utf8')),
  );
  expect([shared.length > 100, hooked]).toEqual([true, []]);
});

test('the top level holds nothing but what belongs there', () => {
  const wanted = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'package-lock.json',
    'package.json',
    'src',
    'templates',
    'test',
    'tsconfig.json',
  ];
  const made = ['node_modules', 'dist', 'coverage', 'evidence-archive'];
  const there = readdirSync(ROOT).filter((name) => !name.startsWith('.') && !made.includes(name));
  expect(there.filter((name) => !name.endsWith('.tgz')).sort()).toEqual(wanted);
});

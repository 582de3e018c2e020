import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { IMPORT_RULES } from './support/architecture/imports.ts';
import { ROOT, type Rule, readSources, type SourceFile, sourceOf } from './support/architecture/sources.ts';
import { STYLE_RULES } from './support/architecture/style.ts';
import { TEST_RULES } from './support/architecture/tests.ts';

const sources = readSources('src');
const tests = readSources('test');

test('the sources are there', () => {
  expect([sources.length > 1000, tests.length > 500]).toEqual([true, true]);
  expect(sources.reduce((sum, { imports }) => sum + imports.length, 0)).toBeGreaterThan(3000);
});

describe.each([...IMPORT_RULES, ...STYLE_RULES])('$rule', (rule) => holds(rule, sources));
describe.each(TEST_RULES)('$rule', (rule) => holds(rule, tests));

/** Checks that a rule holds, and that its example breaks the rule. */
function holds(
  { broken, allowed = [], isOfOneFile, example: [path, text, reported] }: Rule,
  files: SourceFile[],
): void {
  test('holds', () => {
    expect(broken(files).toSorted()).toEqual(allowed.toSorted());
  });

  test('is broken by its example', () => {
    const others = isOfOneFile === true ? [] : files.filter((file) => file.path !== path);
    expect(broken([...others, sourceOf(path, text)])).toContain(reported);
  });
}

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

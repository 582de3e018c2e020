import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const TESTS = import.meta.dirname;
/** Whoever imports it starts other programs: ours, which have to be built, or those of the system. */
const STARTS_PROGRAMS = /from '(node:child_process|playwright-core)'/;

const HAS_LONG_TABLE = /from '[^']*\/some-rows\.ts'/;

/** They carry out whole exports, or take long: many inputs are tried, faults of a store and limits of time are waited out. */
const WHOLE =
  /^(attacks|integration|fuzz|property|bench|soak|worked-example)\/|^exporter\/archive\/s3-faults|^platform\/traps\/decoy-limits/;

/** Test files of one subject that start no program, and so need neither a build nor a package of the system. */
export function unitTests(): string[] {
  const startsPrograms = withImports(STARTS_PROGRAMS);
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !WHOLE.test(file))
    .map((file) => join(TESTS, file))
    .filter((file) => !startsPrograms(file))
    .map((file) => join('test', relative(TESTS, file)))
    .toSorted();
}

/** Test files with tables of which `npm test` tries some rows: `npm run test:soak` tries every row of theirs. */
export function testsWithLongTables(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(TESTS, file))
    .filter(withImports(HAS_LONG_TABLE))
    .map((file) => join('test', relative(TESTS, file)))
    .toSorted();
}

/** Test files that replace a module. */
export function mockingTests(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && /^vi\.mock\(/m.test(readFileSync(join(TESTS, file), 'utf8')))
    .map((file) => join('test', file))
    .toSorted();
}

/** Tells of a file whether its source has a pattern, or that of a file of the tests that it imports. */
function withImports(pattern: RegExp): (file: string) => boolean {
  const known = new Map<string, boolean>();
  const has = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    known.set(file, false);
    const source = readFileSync(file, 'utf8');
    const imported = [...source.matchAll(/from '(\.[^']*)'/g)].map(([, path = '']) => resolve(dirname(file), path));
    const found = pattern.test(source) || imported.filter(isOfTests).some(has);
    known.set(file, found);
    return found;
  };
  return has;
}

function isOfTests(file: string): boolean {
  return file.startsWith(`${TESTS}/`) && file.endsWith('.ts');
}

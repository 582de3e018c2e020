import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const TESTS = import.meta.dirname;
/** Imports of files that start other programs: built ones, or the system's. */
const STARTS_PROGRAMS = /from '(node:child_process|playwright-core)'/;

const HAS_LONG_TABLE = /from '[^']*\/some-rows\.ts'/;

/** Paths of tests that run whole exports or take long, because they try many inputs or wait for timeouts. */
const WHOLE =
  /^(attacks|integration|fuzz|property|bench|soak|worked-example)\/|^exporter\/archive\/s3-faults|^platform\/traps\/decoy-limits/;

/** Returns tests of one subject that start no program, and so need no build and no system package. */
export function unitTests(): string[] {
  const startsPrograms = withImports(STARTS_PROGRAMS);
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !WHOLE.test(file))
    .map((file) => join(TESTS, file))
    .filter((file) => !startsPrograms(file))
    .map((file) => join('test', relative(TESTS, file)))
    .toSorted();
}

/** Returns tests with tables that `npm test` samples; `npm run test:soak` runs every row. */
export function testsWithLongTables(): string[] {
  return (
    readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
      // The overlay's tests import files of the project that it is copied over.
      .filter((file) => file.endsWith('.test.ts') && !file.startsWith('worked-example/overlay/'))
      .map((file) => join(TESTS, file))
      .filter(withImports(HAS_LONG_TABLE))
      .map((file) => join('test', relative(TESTS, file)))
      .toSorted()
  );
}

/** Returns tests that replace a module. */
export function mockingTests(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && /^vi\.mock\(/m.test(readFileSync(join(TESTS, file), 'utf8')))
    .map((file) => join('test', file))
    .toSorted();
}

/** Returns a test of whether a file, or a test file that it imports, matches a pattern. */
function withImports(pattern: RegExp): (file: string) => boolean {
  const known = new Map<string, boolean>();
  const has = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    known.set(file, false);
    const source = readFileSync(file, 'utf8');
    const imported = [...source.matchAll(/^(?:import|export|\}).* from '(\.[^']*)'/gm)].map(([, path = '']) =>
      resolve(dirname(file), path),
    );
    const found = pattern.test(source) || imported.filter(isOfTests).some(has);
    known.set(file, found);
    return found;
  };
  return has;
}

function isOfTests(file: string): boolean {
  return file.startsWith(`${TESTS}/`) && file.endsWith('.ts');
}

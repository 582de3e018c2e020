import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const TESTS = import.meta.dirname;
/** Imports of files that start other programs: built ones, or the system's. */
const STARTS_PROGRAMS = /from '(node:child_process|playwright-core)'/;

const HAS_LONG_TABLE = /from '[^']*\/some-rows\.ts'/;

/** Paths of tests that run whole exports or take long, because they try many inputs or wait for timeouts. */
const WHOLE =
  /^test\/((attacks|integration|fuzz|property|bench|soak|worked-example)\/|exporter\/archive\/s3-faults|platform\/traps\/decoy-limits)/;

/** Number of parts of the long tests. */
const PARTS = 8;

/** Returns tests of one subject that start no program, and so need no build and no system package. */
export function unitTests(): string[] {
  const startsPrograms = withImports(STARTS_PROGRAMS);
  return testFiles().filter((file) => !WHOLE.test(file) && !startsPrograms(inTests(file)));
}

/** Returns tests that replace a module. */
export function mockingTests(): string[] {
  return testFiles().filter((file) => /^vi\.mock\(/m.test(readFileSync(inTests(file), 'utf8')));
}

/** Returns all tests but others, without those of `npm run test:soak`: the ones that start programs or take long. */
export function longTests(others: readonly string[]): string[] {
  const left = new Set(others);
  return testFiles().filter((file) => !left.has(file) && !file.startsWith('test/soak/'));
}

/**
 * Returns a part of the long tests: by default all of them under `CI`, and otherwise another eighth each day, so that
 * people get an answer soon. `PART` selects one.
 * @throws Error if `PART` is neither a number of a part nor `all`.
 */
export function partOf(files: readonly string[]): { part: string; files: string[] } {
  const today = `${1 + (Math.floor(Date.now() / (24 * 60 * 60 * 1000)) % PARTS)}`;
  const part = process.env['PART'] ?? (process.env['CI'] === undefined ? today : 'all');
  if (part === 'all') return { part, files: [...files] };
  const number = /^\d$/.test(part) ? Number(part) : 0;
  if (number < 1 || number > PARTS)
    throw new Error(`PART is "${part}", but must be "all" or a number from 1 to ${PARTS}`);
  return { part: `${part} of ${PARTS}`, files: files.filter((_, at) => at % PARTS === number - 1) };
}

/** Returns tests with tables that `npm test` samples; `npm run test:soak` runs every row. */
export function testsWithLongTables(): string[] {
  const hasLongTable = withImports(HAS_LONG_TABLE);
  return testFiles().filter((file) => hasLongTable(inTests(file)));
}

/** Returns the paths of all tests, sorted, without the overlay's, which import files of the project under it. */
function testFiles(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('worked-example/overlay/'))
    .map((file) => join('test', file))
    .toSorted();
}

function inTests(file: string): string {
  return join(TESTS, '..', file);
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

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { longTests, mockingTests, partOf, unitTests } from './speeds.ts';
import { useMemory } from './support/memory-folder.ts';

useMemory();

const UNIT = unitTests();
const MOCKING = mockingTests();
const ALL_LONG = longTests([...UNIT, ...MOCKING]);
/** Files named on the command line run whatever part they are in. */
const LONG = process.argv.some((word) => word.endsWith('.test.ts'))
  ? { part: 'all', files: ALL_LONG }
  : partOf(ALL_LONG);
process.stderr.write(`Long tests: ${LONG.part}\n`);
/** More workers than processors, because tests wait for programs and timeouts. */
const WORKERS = availableParallelism() + 2;

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/support/setup.ts', 'test/support/compiled.ts'],
    // A worker loads shared modules, and builds shared fixtures, once for all its files.
    isolate: false,
    // Exports produce much short-lived garbage; a larger young generation halves the time for collecting it. A larger
    // old one saves a quarter of all CPU time: each of its collections marks every module that a worker has loaded.
    execArgv: ['--max-semi-space-size=64', '--initial-old-space-size=512'],
    setupFiles: ['test/support/own-variables.ts'],
    // Timeouts that only hanging tests reach, even on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'], reportOnFailure: true },
    projects: [
      // Unit tests start no programs, so they need no build.
      { extends: true, test: { name: 'unit', include: UNIT, maxWorkers: WORKERS } },
      {
        extends: true,
        test: {
          name: 'programs',
          // Long measurements run with test/soak/vitest.config.ts.
          include: LONG.files,
          globalSetup: ['test/support/built.ts', 'test/support/python.ts'],
          maxWorkers: WORKERS,
        },
      },
      // A replaced module must not be loaded yet, and must not stay for the next file.
      { extends: true, test: { name: 'alone', include: MOCKING, isolate: true, maxWorkers: WORKERS } },
    ],
  },
});

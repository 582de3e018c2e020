import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { mockingTests, unitTests } from './speeds.ts';
import { useMemory } from './support/memory-folder.ts';

useMemory();

const UNIT = unitTests();
const MOCKING = mockingTests();
/** Tests wait for programs, and for limits of time: meanwhile another one works. */
const WORKERS = availableParallelism() + 2;

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/support/setup.ts', 'test/support/compiled.ts'],
    // A worker takes one file after the other: what they load and build is loaded and built once.
    isolate: false,
    // Each export leaves much that is soon garbage: to look for it half as often takes half as long.
    execArgv: ['--max-semi-space-size=64'],
    setupFiles: ['test/support/own-variables.ts'],
    // Only what hangs meets them, on a machine with much else to do too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'], reportOnFailure: true },
    projects: [
      // These start no programs, so nothing has to be built.
      { extends: true, test: { name: 'unit', include: UNIT, maxWorkers: WORKERS } },
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['test/**/*.test.ts'],
          // What takes long or measures time: test/soak/vitest.config.ts.
          exclude: [...UNIT, ...MOCKING, 'test/soak/**', 'test/worked-example/overlay/**'],
          globalSetup: ['test/support/built.ts', 'test/support/python.ts'],
          maxWorkers: WORKERS,
        },
      },
      // A module that is replaced must not be loaded yet, and must not stay for the next file.
      { extends: true, test: { name: 'alone', include: MOCKING, isolate: true, maxWorkers: WORKERS } },
    ],
  },
});

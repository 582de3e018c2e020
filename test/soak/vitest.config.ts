import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { testsWithLongTables } from '../speeds.ts';

/**
 * Tests that take long or measure time, and so need a quiet machine: random kills, random damage, rates, the bench, and
 * every row of the tables that `npm test` samples. One file runs at a time; tests without an end run for
 * `SOAK_SECONDS`.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    globalSetup: ['test/support/setup.ts', 'test/support/built.ts'],
    hookTimeout: 300_000,
    maxWorkers: 1,
    projects: [
      { extends: true, test: { name: 'long', include: ['test/soak/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'every row',
          include: testsWithLongTables(),
          env: { EVERY_ROW: '1' },
          setupFiles: ['test/support/own-variables.ts'],
          globalSetup: ['test/support/compiled.ts'],
          testTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
    ],
  },
});

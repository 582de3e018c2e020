import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * What takes long, or measures time and so wants a quiet machine: random kills, random damage, rates, the bench. One at a
 * time, each as long as `SOAK_SECONDS` says where it has no end of its own.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/soak/**/*.test.ts'],
    globalSetup: ['test/support/setup.ts', 'test/support/built.ts'],
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});

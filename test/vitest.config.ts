import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { unitTests } from './speeds.ts';

/** They measure time, and would measure each other's. */
const TIMED = ['bench/bench', 'client/rate', 'integration/hurtful', 'integration/rate'].map(
  (name) => `test/${name}.test.ts`,
);

const UNIT = unitTests().filter((file) => !TIMED.includes(file));

/** Of each project, before what it builds: a setup of all projects would come after those of each. */
const SETUP = 'test/support/setup.ts';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'] },
    projects: [
      // These start no programs, so nothing has to be built.
      {
        extends: true,
        test: { name: 'unit', include: UNIT, globalSetup: [SETUP], maxWorkers: availableParallelism() },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...TIMED],
          globalSetup: [SETUP, 'test/support/built.ts'],
          maxWorkers: availableParallelism(),
        },
      },
      {
        extends: true,
        test: {
          name: 'timed',
          include: TIMED,
          globalSetup: [SETUP, 'test/support/built.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

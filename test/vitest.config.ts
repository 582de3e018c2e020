import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { unitTests } from './speeds.ts';

/** They measure time, and would measure each other's. */
const TIMED = ['bench/bench', 'exporter/client/rate', 'integration/hurtful', 'integration/rate'].map(
  (name) => `test/${name}.test.ts`,
);

const gone = TIMED.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)));
if (gone.length > 0) throw new Error(`there are no tests ${gone.join(', ')}`);

const UNIT = unitTests().filter((file) => !TIMED.includes(file));

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    globalSetup: ['test/support/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary'] },
    projects: [
      // These start no programs, so nothing has to be built.
      { extends: true, test: { name: 'unit', include: UNIT, maxWorkers: availableParallelism() } },
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...TIMED],
          globalSetup: ['test/support/built.ts'],
          maxWorkers: availableParallelism(),
        },
      },
      {
        extends: true,
        test: {
          name: 'timed',
          include: TIMED,
          globalSetup: ['test/support/built.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

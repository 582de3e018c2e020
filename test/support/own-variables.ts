import { afterAll } from 'vitest';

/** Environment to restore after each test file, because files share their process. */
const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

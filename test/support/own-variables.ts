import { afterAll } from 'vitest';

/** Test files share their process, but none finds the environment variables that another one set. */
const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

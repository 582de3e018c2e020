import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtFolder, run } from './process.ts';
import { useOwnFolder } from './setup.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Builds the programs for publication into a separate package, once for all tests: the checkout's `dist` may be in use,
 * or being built by a test.
 */
export default async function build(): Promise<void> {
  useOwnFolder();
  const folder = builtFolder();
  if (existsSync(folder)) return;
  mkdirSync(folder);
  const rolldown = join(ROOT, 'node_modules/.bin/rolldown');
  await run(rolldown, ['--config', join(ROOT, 'src/rolldown.config.mts'), '--dir', join(folder, 'dist')], folder);
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const name of ['node_modules', 'templates']) symlinkSync(join(ROOT, name), join(folder, name));
}

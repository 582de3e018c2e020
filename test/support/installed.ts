import { cpSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { oncePerRun } from './once-per-run.ts';
import { builtFolder, run } from './process.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Installs the package into a folder as users do, with a link to each of its files. */
export async function installInto(folder: string): Promise<string> {
  const { original } = await oncePerRun('installed-package', async (original) => {
    await install(original);
    return { original };
  });
  await run('cp', ['--archive', '--link', `${original}/.`, folder], folder);
  return join(folder, 'node_modules/evidence-exporter');
}

async function install(folder: string): Promise<void> {
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], packageFolder());
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['init', '-y'], folder);
  const options = ['--no-audit', '--no-fund', '--omit=dev', '--prefer-offline'];
  await run('npm', ['install', ...options, join(folder, tarball)], folder);
}

/** Collects the files that `npm pack` packs, with the build that all tests share. */
function packageFolder(): string {
  const place = mkdtempSync(join(tmpdir(), 'package-'));
  const { files, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  if (scripts.prepack !== 'npm run build' || scripts.build !== 'rolldown --config src/rolldown.config.mts')
    throw new Error('npm pack builds something else than the tests do');
  for (const name of ['package.json', 'README.md', 'LICENSE', ...files])
    cpSync(join(name === 'dist' ? builtFolder() : ROOT, name), join(place, name), { recursive: true });
  return place;
}

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folder of this program's package.json. Into which file, how deep in `dist`, this code was built plays no part. */
const root = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

/** A file of the package, e.g. `templates/bundle/README.eta`. */
export function packageFile(path: string): string {
  return join(root, path);
}

/** Name and version of the package. */
export function readManifest(): { name: string; version: string } {
  const { name, version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return { name, version };
}

/** The file that starts a program, in the package: beside what was built when this is built code. */
export function startFile(program: 'evidence' | 'evidence-platform'): string {
  return packageFile(`${extname(import.meta.url) === '.js' ? 'dist' : 'src'}/start/${program}.cjs`);
}

/**
 * A program of its own, to start as a worker: what was built of it when this is built code, else its source.
 * @param name its path in `src` without its ending, e.g. `platform/main`; rolldown.config.mts has to list it.
 */
export function programUrl(name: string): URL {
  const isBuilt = extname(import.meta.url) === '.js';
  return pathToFileURL(packageFile(isBuilt ? `dist/${name}.js` : `src/${name}.ts`));
}

/** The place of the sensor on a machine that is watched. */
export const SENSOR_FILE = '/usr/local/lib/evidence-sensor.mjs';

/** The text of the sensor, which is one file: what was built of it when this is built code, else it is built now. */
export async function sensorProgram(): Promise<string> {
  if (extname(import.meta.url) === '.js') return readFile(packageFile('dist/evidence-sensor.mjs'), 'utf8');
  const { buildSensor } = await import(pathToFileURL(packageFile('src/rolldown.sensor.mts')).href);
  return buildSensor();
}

/**
 * The text of a program for a browser: what was built of it when this is built code, else it is built now.
 * @param name as in rolldown.browser.mts.
 */
export async function browserProgram(name: 'page' | 'verifier'): Promise<string> {
  if (extname(import.meta.url) === '.js') return readFile(packageFile(`dist/browser/${name}.js`), 'utf8');
  const { buildForBrowser } = await import(pathToFileURL(packageFile('src/rolldown.browser.mts')).href);
  return (await buildForBrowser(name)).code;
}

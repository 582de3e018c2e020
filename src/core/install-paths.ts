import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folder of this program's package.json, whichever file in `dist` this code was built into. */
const root = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

/** Returns the path of a file in the package, e.g. `templates/bundle/README.eta`. */
export function packageFile(path: string): string {
  return join(root, path);
}

/** Returns the name and version of the package. */
export function readManifest(): { name: string; version: string } {
  const { name, version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return { name, version };
}

/** Returns the file in the package that starts a program: in `dist` if this code is built, otherwise in `src`. */
export function startFile(program: 'evidence' | 'evidence-platform'): string {
  return packageFile(`${extname(import.meta.url) === '.js' ? 'dist' : 'src'}/start/${program}.cjs`);
}

/**
 * Returns the URL of a program to start as a worker: the built file if this code is built, otherwise its source.
 * @param name path in `src` without the extension, e.g. `platform/main`; rolldown.config.mts must list it.
 */
export function programUrl(name: string): URL {
  const isBuilt = extname(import.meta.url) === '.js';
  return pathToFileURL(packageFile(isBuilt ? `dist/${name}.js` : `src/${name}.ts`));
}

/** Path of the sensor on a watched machine. */
export const SENSOR_FILE = '/usr/local/lib/evidence-sensor.mjs';

/**
 * Returns the text of the sensor, a single file: the built file if this code is built, otherwise one built on demand.
 */
export async function sensorProgram(): Promise<string> {
  if (extname(import.meta.url) === '.js') return readFile(packageFile('dist/evidence-sensor.mjs'), 'utf8');
  const { buildSensor } = await import(pathToFileURL(packageFile('src/rolldown.sensor.mts')).href);
  return buildSensor();
}

/**
 * Returns the text of a program for a browser: the built file if this code is built, otherwise one built on demand.
 * @param name as in rolldown.browser.mts.
 */
export async function browserProgram(name: 'page' | 'verifier'): Promise<string> {
  if (extname(import.meta.url) === '.js') return readFile(packageFile(`dist/browser/${name}.js`), 'utf8');
  const { buildForBrowser } = await import(pathToFileURL(packageFile('src/rolldown.browser.mts')).href);
  return (await buildForBrowser(name)).code;
}

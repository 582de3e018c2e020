import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * For `node --import`: when the process ends, the packages of which it loaded something are in the file that
 * LOADED_PACKAGES names, as JSON.
 */
const packages = new Set<string>();

registerHooks({
  load(url, context, nextLoad) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) packages.add(name);
    return nextLoad(url, context);
  },
});

process.once('exit', () => writeFileSync(process.env['LOADED_PACKAGES'] ?? '', JSON.stringify([...packages].sort())));

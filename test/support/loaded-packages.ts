import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * For `node --import`: when the process ends, the file that LOADED_PACKAGES names holds the packages of which it loaded
 * something, and how many files of each, as JSON.
 */
const packages: Record<string, number> = {};

registerHooks({
  load(url, context, nextLoad) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) packages[name] = (packages[name] ?? 0) + 1;
    return nextLoad(url, context);
  },
});

process.once('exit', () => writeFileSync(process.env['LOADED_PACKAGES'] ?? '', JSON.stringify(packages)));

import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * Preload for Node: when the process ends, writes the packages that it loaded, with the number of files of each, as
 * JSON into the file named by LOADED_PACKAGES.
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

import { packageFile, programUrl } from '../../src/core/install-paths.ts';

/**
 * Prints the paths at which it finds the package's files and programs; once built, it is deeper in `dist` than any
 * program.
 */
process.stdout.write(JSON.stringify([packageFile('package.json'), programUrl('exporter/cli/main').href]));

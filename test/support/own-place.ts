import { packageFile, programUrl } from '../../src/core/install-paths.ts';

/** Says where it finds the package's files and programs; built, it lies deeper in `dist` than any program. */
process.stdout.write(JSON.stringify([packageFile('package.json'), programUrl('exporter/cli/main').href]));

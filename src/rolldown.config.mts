import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'rolldown';
import manifest from '../package.json' with { type: 'json' };
import {
  BROWSER_PROGRAMS,
  buildForBrowser,
  buildLibraryForBrowser,
  foldersOf,
  licenceOf,
} from './rolldown.browser.mts';
import { declarationsOfLibrary } from './rolldown.types.mts';

const ROOT = join(import.meta.dirname, '..');

/**
 * What is started by its own file: the commands, and the programs of workers (see `programUrl` in package.ts). Each is
 * `dist/NAME.js`; a new one is a line here.
 */
const PROGRAMS = [
  // What others import.
  'index',
  'exporter/cli/main',
  'platform/main',
  'platform/audit/reader-thread',
  'verifier/verify/range-worker',
  'exporter/export/packing-thread',
  'verifier/pdf-text/reader-thread',
];

/** What every command needs, in one file. What loads YAML or schemas is not among it. */
const CORE = /src\/core\/(terminal\/)?(?!progress|yaml|schema-words|wire|explain)[a-z-]+\.ts$/;

/** What verifies a package, in one file, and what a thread of it needs in another. What loads schemas is not among it. */
const DECODER =
  /src\/(core\/json\/canonical|verifier\/(decode\/wasm\/[a-z]+|model\/(batch|unhashed)|verify\/(ranges|read-at)))\.ts$/;
const VERIFIER =
  /src\/(core\/json|verifier\/(chain|claims|decode|model|reading|recipe))\/(?!.*schema|pinned)[a-z0-9/-]+\.ts$/;

/**
 * Makes `dist`: the programs, and what they share, in few files, because a start pays for each that it opens.
 * Our own code and yargs are in them, readable; the packages of `dependencies` are not, and load when they are used.
 */
export default defineConfig({
  cwd: ROOT,
  input: Object.fromEntries(PROGRAMS.map((name) => [name, join(ROOT, 'src', `${name}.ts`)])),
  platform: 'node',
  external: Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
  plugins: [launchers(), browserPrograms(), library(), licences()],
  output: {
    dir: join(ROOT, 'dist'),
    cleanDir: true,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    minifyInternalExports: false,
    codeSplitting: {
      groups: [
        { name: 'core', test: CORE },
        { name: 'decoder', test: DECODER },
        { name: 'verifier', test: VERIFIER },
      ],
      includeDependenciesRecursively: false,
    },
  },
});

/** The files that every Node.js can read go as they are. */
function launchers(): Plugin {
  return {
    name: 'launchers',
    generateBundle() {
      for (const name of readdirSync(join(ROOT, 'src/start')))
        this.emitFile({
          type: 'asset',
          fileName: `start/${name}`,
          source: readFileSync(join(ROOT, 'src/start', name)),
        });
    },
  };
}

/** What report.html carries, for `browserProgram` in package.ts. */
function browserPrograms(): Plugin {
  return {
    name: 'browser-programs',
    async generateBundle() {
      for (const name of BROWSER_PROGRAMS)
        this.emitFile({ type: 'asset', fileName: `browser/${name}.js`, source: (await buildForBrowser(name)).code });
    },
  };
}

/** What others import besides `index.js`: the same for browsers, and the types of both. */
function library(): Plugin {
  return {
    name: 'library',
    async generateBundle() {
      const source = (await buildLibraryForBrowser()).code;
      this.emitFile({ type: 'asset', fileName: 'index.browser.js', source });
      for (const [name, text] of await declarationsOfLibrary())
        this.emitFile({ type: 'asset', fileName: `types/${name}`, source: text });
    },
  };
}

/** The licences of the packages whose code is in `dist`, as they demand. A package without one ends the build. */
function licences(): Plugin {
  return {
    name: 'licences',
    async generateBundle(_options, bundle) {
      const files = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []));
      const programs = await Promise.all([...BROWSER_PROGRAMS.map(buildForBrowser), buildLibraryForBrowser()]);
      const folders = [...foldersOf(files), ...programs.flatMap((program) => program.folders)];
      const texts = [...new Set(folders)].map(licenceOf).toSorted();
      this.emitFile({
        type: 'asset',
        fileName: 'THIRD-PARTY-LICENSES.txt',
        source: texts.join(`\n${'-'.repeat(80)}\n\n`),
      });
    },
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChunkingContext, defineConfig, type Plugin } from 'rolldown';
import manifest from '../package.json' with { type: 'json' };
import {
  BROWSER_PROGRAMS,
  buildForBrowser,
  buildLibraryForBrowser,
  foldersOf,
  licenceOf,
} from './rolldown.browser.mts';
import { buildSensor } from './rolldown.sensor.mts';
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
const CORE = /src\/core\/(terminal\/)?(?!progress|yaml|schema-words|explain)[a-z-]+\.ts$/;

const START = ['exporter/cli/evidence', 'exporter/cli/interruption'];
/** Without commands/verify.ts, which starts threads before the rest is loaded. */
const VERIFY = ['exporter/cli/commands/verify-targets', 'verifier/verify/package-file'];

/**
 * Each names modules, and means all that they import as well: those of `of` that are among `alsoOf` too, and not among
 * `notOf`.
 */
interface Together {
  of: readonly string[];
  alsoOf?: readonly string[];
  notOf?: readonly string[];
}

/**
 * What else is loaded together, by the name of its file. `notOf` are those who would load a whole file for few of its
 * modules. A module that two files could hold is in the first. What loads YAML or schemas is not among it.
 */
const TOGETHER: Record<string, Together> = {
  decoder: { of: ['verifier/verify/range-worker'] },
  start: { of: START, notOf: ['index'] },
  verifier: {
    of: VERIFY,
    alsoOf: ['index'],
    notOf: [...START, 'exporter/export/packing-thread', 'verifier/pdf-text/reader-thread'],
  },
  verify: { of: VERIFY, notOf: [...START, 'index'] },
};

/**
 * Makes `dist`: the programs, and what they share, in few files, because a start pays for each that it opens.
 * Our own code and yargs are in them, readable; the packages of `dependencies` are not, and load when they are used.
 */
export default defineConfig({
  cwd: ROOT,
  input: Object.fromEntries(PROGRAMS.map((name) => [name, join(ROOT, 'src', `${name}.ts`)])),
  platform: 'node',
  external: Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
  plugins: [ascii(), launchers(), sensor(), browserPrograms(), library(), licences()],
  output: {
    dir: join(ROOT, 'dist'),
    cleanDir: true,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name].js',
    minifyInternalExports: false,
    codeSplitting: {
      groups: [{ name: 'core', test: CORE }, ...Object.entries(TOGETHER).map(([name, group]) => together(name, group))],
      includeDependenciesRecursively: false,
    },
  },
});

function together(name: string, { of, alsoOf = of, notOf = [] }: Together) {
  const programs = new Set(PROGRAMS.map(fileOf));
  let members: ReadonlySet<string> | null = null;
  return {
    debugName: name,
    test: (id: string) => /\/src\/.*\.ts$/.test(id) && !programs.has(id),
    name: (id: string, graph: ChunkingContext) => {
      members ??= withImports(of, graph).intersection(withImports(alsoOf, graph)).difference(withImports(notOf, graph));
      return members.has(id) ? name : null;
    },
  };
}

function withImports(modules: readonly string[], graph: ChunkingContext): Set<string> {
  const found = new Set(modules.map(fileOf));
  for (const id of found) if (graph.getModuleInfo(id) === null) throw new Error(`there is no ${id}`);
  for (const id of found) for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  return found;
}

function fileOf(module: string): string {
  return join(ROOT, 'src', `${module}.ts`);
}

/** Other characters are escaped: a file with one of them takes V8 twice the memory, and longer to read. */
function ascii(): Plugin {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return {
    name: 'ascii',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle))
        if (file.type === 'chunk') file.code = file.code.replace(/[^\0-\x7F]/g, escaped);
    },
  };
}

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

/** One file, which is all that an endpoint needs besides Node.js. */
function sensor(): Plugin {
  return {
    name: 'sensor',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'evidence-sensor.mjs', source: await buildSensor() });
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

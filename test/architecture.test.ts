import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Sized, sizesIn } from './support/sizes.ts';

const src = resolve(import.meta.dirname, '../src');

/**
 * Which product may import which, and within each which room: the tables of src/README.md. A room is a folder of a product,
 * or a file that stands in the product itself. A room may always import itself.
 */
const PRODUCTS: Record<string, string[]> = {
  core: [],
  verifier: ['core'],
  probe: ['core', 'verifier'],
  exporter: ['core', 'verifier', 'probe'],
  sensor: ['core'],
  platform: ['core', 'sensor'],
  library: ['core', 'verifier'],
};

const ROOMS: Record<string, Record<string, string[]>> = {
  core: {
    address: [],
    bytes: [],
    chunks: [],
    csv: [],
    defined: [],
    digest: [],
    errors: ['foreign-text'],
    exposition: [],
    'foreign-text': [],
    formats: ['bytes'],
    html: ['plurals'],
    'http-date': [],
    'install-paths': [],
    json: ['bytes', 'errors'],
    'new-file': ['errors'],
    parallel: [],
    retry: [],
    rows: ['json'],
    'schema-words': [],
    secret: [],
    shell: [],
    'spare-memory': [],
    terminal: ['errors', 'install-paths', 'secret', 'plurals'],
    threads: ['defined', 'errors'],
    typesetting: ['install-paths'],
    wait: [],
    'webhook-signature': [],
    plurals: [],
    yaml: ['errors', 'foreign-text', 'schema-words'],
  },
  verifier: {
    profile: [],
    recipe: ['model', 'profile'],
    reading: ['model', 'profile', 'recipe'],
    decode: ['model', 'reading', 'recipe'],
    model: [],
    chain: ['decode', 'model', 'reading'],
    'pdf-text': [],
    timestamp: ['model'],
    signature: [],
    claims: ['chain', 'model', 'pdf-text', 'reading', 'recipe', 'timestamp'],
    supplements: ['claims', 'model', 'profile'],
    bundle: ['claims', 'model', 'supplements'],
    encryption: [],
    archive: [],
    records: ['archive', 'claims', 'model', 'signature', 'supplements', 'timestamp'],
    ledger: ['archive', 'claims', 'model', 'records', 'signature'],
    verify: [
      'archive',
      'bundle',
      'chain',
      'claims',
      'decode',
      'encryption',
      'ledger',
      'model',
      'pdf-text',
      'profile',
      'reading',
      'records',
      'signature',
      'supplements',
      'timestamp',
    ],
  },
  probe: {
    sample: [],
    openapi: ['sample'],
    roles: ['sample'],
    report: ['roles'],
    lists: ['openapi', 'report', 'roles', 'sample'],
    digest: ['lists', 'openapi', 'report', 'roles', 'sample'],
    packages: ['lists', 'openapi', 'report', 'roles', 'sample'],
    chain: ['lists', 'report', 'roles'],
    probe: ['chain', 'digest', 'lists', 'openapi', 'packages', 'report', 'sample'],
  },
  exporter: {
    client: [],
    'next-steps': [],
    clocks: [],
    check: ['clocks'],
    archive: ['check'],
    records: ['archive'],
    bundle: [],
    ledger: ['archive', 'records'],
    report: ['next-steps'],
    browser: ['report'],
    supplements: ['client'],
    export: ['archive', 'bundle', 'client', 'clocks', 'ledger', 'records', 'report', 'supplements'],
    notify: ['client', 'export'],
    queue: ['client', 'export'],
    share: ['archive', 'records', 'report'],
    doctor: ['archive', 'check', 'client', 'export', 'ledger', 'supplements'],
    cli: [
      ...['archive', 'check', 'client', 'clocks', 'doctor', 'export', 'ledger', 'notify', 'queue', 'report'],
      ...['next-steps', 'share', 'supplements'],
    ],
  },
  sensor: {
    report: [],
    scan: ['report'],
    client: [],
    answers: [],
    lines: ['report'],
    state: ['report'],
    delivery: ['answers', 'client', 'lines', 'report', 'state'],
    bait: ['answers', 'client', 'scan', 'state'],
    round: ['answers', 'bait', 'client', 'delivery', 'lines', 'report', 'scan', 'state'],
    run: ['bait', 'client', 'round', 'scan', 'state'],
    'command-line': ['run'],
    main: ['command-line'],
  },
  platform: {
    module: ['database'],
    modules: [],
    scopes: ['modules'],
    errors: ['modules'],
    folder: [],
    database: [],
    jobs: ['database', 'errors', 'http'],
    outgoing: [],
    idempotency: ['database', 'errors', 'jobs'],
    timestamp: ['outgoing'],
    secrets: [],
    mail: ['jobs'],
    http: ['errors', 'modules', 'scopes'],
    operations: ['http', 'modules', 'scopes', 'web'],
    web: ['errors', 'http', 'scopes'],
    metrics: [],
    'master-key': ['database'],
    import: [],
    migrations: ['database', 'idempotency', 'jobs', 'master-key', 'modules'],
    status: ['database', 'errors', 'jobs', 'mail', 'master-key', 'metrics', 'migrations'],
    settings: ['mail'],
    'service-settings': ['module', 'modules'],
    config: ['http', 'mail', 'service-settings', 'settings', 'status'],
    setup: ['database', 'folder', 'master-key', 'migrations'],
    parts: ['database', 'folder', 'jobs', 'setup'],
    init: ['database', 'folder', 'master-key', 'parts', 'scopes', 'setup', 'timestamp'],
    posting: ['database', 'jobs', 'mail', 'open-module'],
    options: ['http', 'mail', 'parts', 'service-settings', 'status'],
    'settings-in-force': ['http', 'mail', 'options', 'service-settings'],
    'open-module': ['jobs', 'mail', 'options', 'parts', 'web'],
    'open-modules': ['folder', 'idempotency', 'jobs', 'modules', 'open-module', 'options', 'parts'],
    bootstrap: ['database', 'errors', 'mail', 'parts', 'scopes', 'settings'],
    app: [
      ...['bootstrap', 'database', 'http', 'idempotency', 'jobs', 'open-module', 'open-modules', 'options', 'parts'],
      ...['posting', 'status', 'web'],
    ],
    backup: ['database', 'folder', 'setup'],
    demonstration: [],
    embedded: ['app', 'demonstration', 'folder', 'import', 'init', 'parts'],
    commands: ['app', 'backup', 'config', 'database', 'errors', 'import', 'init', 'parts', 'scopes', 'setup'],
    'command-line': ['commands'],
    main: ['command-line'],
  },
  library: {
    trust: [],
    content: [],
    roots: ['trust'],
    package: ['content', 'roots'],
    bundle: ['content', 'roots'],
    archive: ['roots'],
    'in-browser': ['content', 'trust'],
    index: ['archive', 'bundle', 'content', 'package', 'roots', 'trust'],
    'index.browser': ['content', 'in-browser', 'trust'],
  },
};

/** The files that import what of another product they otherwise may not. */
const DOORS = [
  'exporter/cli/commands/demo.ts -> platform/embedded.ts',
  'index.browser.ts -> exporter/browser/stand-ins/dispose.ts',
  'library/archive.ts -> exporter/archive/directory/archive.ts',
];

/** Rooms of the platform that every service may import. */
const KIT = [
  ...['database', 'errors', 'folder', 'http', 'idempotency', 'jobs', 'mail', 'metrics', 'module', 'modules'],
  ...['open-module', 'operations', 'outgoing', 'scopes', 'secrets', 'settings-in-force', 'timestamp', 'web'],
];

/** Rooms of the platform that may import services. */
const ASSEMBLE = [
  ...['app', 'bootstrap', 'commands', 'demonstration', 'embedded', 'init', 'master-key', 'modules'],
  ...['open-module', 'open-modules', 'parts', 'posting', 'setup', 'status'],
];

/** Folders whose code sees only its arguments. */
const PURE = [
  'core/json',
  'core/html',
  ...['profile', 'decode', 'recipe', 'reading', 'model', 'chain', 'timestamp', 'signature', 'claims'].map(
    (room) => `verifier/${room}`,
  ),
  'sensor/report',
  'exporter/report/view',
];
const IMPURE_IMPORTS =
  /^node:(fs|fs\/promises|net|http|https|child_process|os|timers|timers\/promises|dns|worker_threads)$|^undici$/;
const IMPURE_TEXT =
  /\bprocess\.|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.|\brandomUUID\b|\brandomBytes\b/;

const IMPORTED = /(?:from|import)\s*\(?\s*'([^']+)'/g;
/** A statement that imports or exports types alone. */
const OF_TYPES = /^(?:import|export) (?:type \{[^}]*\}|\{(?:\s*type [^,}]+,?)+\s*\}) from '[^']+';$/gm;

interface SourceFile {
  /** Relative to `src`, with `/`. */
  path: string;
  room: string;
  text: string;
  /** Of files of `src`, relative to it. */
  imports: string[];
  /** Those of `imports` that are of more than types. */
  loads: string[];
  /** Of packages and of Node. */
  packages: string[];
}

const files = readSources();

/** Folders of the platform with a `module.ts`. */
const SERVICES = new Set(files.flatMap(({ path, room }) => (/^platform\/[^/]+\/module\.ts$/.test(path) ? [room] : [])));

function readSources(): SourceFile[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(join(src, path), 'utf8');
      const specifiers = [...text.matchAll(IMPORTED)].map((match) => match[1] ?? '');
      const slashed = path.split(sep).join('/');
      const localIn = (code: string) =>
        [...code.matchAll(IMPORTED)]
          .filter(([, specifier]) => specifier?.startsWith('.') && !specifier.endsWith('.json'))
          .map(([, specifier = '']) =>
            relative(src, resolve(src, dirname(path), specifier))
              .split(sep)
              .join('/'),
          );
      return {
        path: slashed,
        room: roomOf(slashed),
        text,
        imports: localIn(text),
        loads: localIn(text.replace(OF_TYPES, '')),
        packages: specifiers.filter((specifier) => !specifier.startsWith('.')),
      };
    });
}

/** `verifier/chain` of `verifier/chain/walk.ts`, `core/errors` of `core/errors.ts`; what stands in `src` itself is of the library. */
function roomOf(path: string): string {
  if (!path.includes('/')) return `library/${path.replace(/\.ts$/, '')}`;
  return path.split('/').slice(0, 2).join('/').replace(/\.ts$/, '');
}

test('every room of src is in the tables, and the tables name no other', () => {
  const named = Object.entries(ROOMS).flatMap(([product, rooms]) =>
    Object.keys(rooms).map((room) => `${product}/${room}`),
  );
  expect([...new Set(files.map((file) => file.room))].sort()).toEqual([...named, ...SERVICES].sort());
  expect(Object.keys(ROOMS)).toEqual(Object.keys(PRODUCTS));
});

test('every import leads to a file of src', () => {
  const known = new Set(files.map((file) => file.path));
  expect(files.flatMap((file) => file.imports.filter((path) => !known.has(path)))).toEqual([]);
  expect(files.reduce((sum, file) => sum + file.imports.length, 0)).toBeGreaterThan(100);
});

test('every file imports only what its room may', () => {
  const wrong = files.flatMap(({ path, room, imports }) =>
    imports.filter((to) => !mayImport(room, to)).map((to) => `${path} -> ${to}`),
  );
  expect([...new Set(wrong)].toSorted()).toEqual(DOORS);
});

test('only these files store objects, each of them what its own reader has read', () => {
  const STORES = [
    // Bundles and bags, which are packed and read back.
    'exporter/export/stream.ts',
    'exporter/export/recover.ts',
    'exporter/export/supplement-store.ts',
    // Records that `toReadableBytes` made, or that are read from the file that is stored, and bytes that are no record.
    'exporter/records/put-record.ts',
    // The signed statement, which follows from a record that was read.
    'exporter/export/attest.ts',
    // Reports; and run.json, of parts that were read and a length that was checked.
    'exporter/export/finalize.ts',
  ];
  const stores = files.filter(({ path, text }) => /^(exporter|verifier)\//.test(path) && /archive\.put\(/.test(text));
  expect(stores.map(({ path }) => path).toSorted()).toEqual(STORES.toSorted());
});

test('only the room of the database knows a driver', () => {
  const wrong = files.filter(
    ({ room, packages }) =>
      !['platform/database', 'exporter/queue'].includes(room) &&
      packages.some((name) => ['node:sqlite', 'pg'].includes(name)),
  );
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

test('a service of the platform knows another one by its api.ts alone', () => {
  const services = [...SERVICES].filter((room) => !['platform/accounts', 'platform/alerts'].includes(room));
  const wrong = files
    .filter(({ room }) => services.includes(room))
    .flatMap(({ path, room, imports }) =>
      imports
        .filter((to) => services.includes(roomOf(to)) && roomOf(to) !== room && !to.endsWith('/api.ts'))
        .map((to) => `${path} -> ${to}`),
    );
  expect(wrong).toEqual([]);
});

test.each([
  ['the format of a report', 'sensor/report/', 'node:(buffer|crypto)'],
  ['the sensor', 'sensor/', 'node:[a-z_/]+'],
])('%s loads no package', (_name, folder, packages) => {
  const known = new RegExp(`^core/|^${folder}|^(${packages})$`);
  const own = files.filter(({ path }) => path.startsWith(folder));
  const wrong = own.flatMap(({ path, imports, packages: used }) =>
    [...imports, ...used].filter((to) => !known.test(to)).map((to) => `${path} -> ${to}`),
  );
  expect(own.length).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
});

/** Of its service: what a use is, and by what it is recognised. Of AWS: how requests are signed, and what they ask for. */
const DECOYS_KNOW = /^core\/|^platform\/traps\/(decoys\/|(use|enums)\.ts$|aws\/(sigv4|access-key)\.ts$)/;

test('a decoy knows neither the platform nor what becomes of what it sees', () => {
  const decoys = files.filter(({ path }) => path.startsWith('platform/traps/decoys/'));
  const wrong = decoys.flatMap(({ path, imports }) =>
    imports.filter((to) => !DECOYS_KNOW.test(to)).map((to) => `${path} -> ${to}`),
  );
  expect(decoys.length).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
});

function mayImport(room: string, path: string): boolean {
  const [product = '', name = ''] = room.split('/');
  const [other = '', otherName = ''] = roomOf(path).split('/');
  if (product !== other) return PRODUCTS[product]?.includes(other) === true;
  if (name === otherName) return true;
  if (SERVICES.has(roomOf(path))) return SERVICES.has(room) || ASSEMBLE.includes(name);
  if (SERVICES.has(room)) return KIT.includes(otherName);
  return ROOMS[product]?.[name]?.includes(otherName) === true;
}

test.each(PURE)('%s touches no disk, network, environment, clock or randomness', (room) => {
  const own = files.filter((file) => file.path.startsWith(`${room}/`));
  expect(own.length).toBeGreaterThan(0);
  for (const { path, packages, text } of own) {
    expect(
      packages.filter((name) => IMPURE_IMPORTS.test(name)),
      path,
    ).toEqual([]);
    expect(
      text.split('\n').filter((line) => IMPURE_TEXT.test(line)),
      path,
    ).toEqual([]);
  }
});

/** Of functions, an overload counts once; of stand-ins, the real thing has the name. */
test.each([
  ['exporter', ['core', 'verifier', 'exporter']],
  ['platform', ['core', 'platform']],
])('no two files that %s is made of export one name', (_product, products) => {
  const exported = /^export (?:abstract )?(?:async )?(?:interface|type|class|enum|const|function\*?) (\w+)/gm;
  const places = new Map<string, Set<string>>();
  for (const { path, text } of files.filter(({ path }) => products.includes(path.split('/')[0] ?? '')))
    for (const [, name = ''] of path.includes('/stand-ins/') ? [] : text.matchAll(exported))
      places.set(name, (places.get(name) ?? new Set()).add(path));
  const twice = [...places]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`);
  expect(places.size).toBeGreaterThan(500);
  expect(twice).toEqual([]);
});

test('no file imports itself, over however many others', () => {
  // A module loads its service once the platform opens it.
  const opens = (path: string, to: string) => path.endsWith('/module.ts') && to === path.replace(/module/, 'open');
  const graph = new Map(files.map(({ path, imports }) => [path, imports.filter((to) => !opens(path, to))]));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (path: string, trail: string[]) => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      return;
    }
    state.set(path, 'open');
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of graph.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

/** What a thread loads it loads again: each of these takes a fraction of the time that a library like zod would. */
test.each([
  ['exporter/export/packing-thread.ts', ['archiver']],
  ['verifier/pdf-text/reader-thread.ts', ['unpdf']],
])('the thread %s loads no other packages than %j', (thread, packages) => {
  const reached = new Set([thread]);
  for (const path of reached)
    for (const next of files.find((file) => file.path === path)?.loads ?? []) reached.add(next);
  const loaded = files.filter(({ path }) => reached.has(path)).flatMap((file) => file.packages);
  expect([...new Set(loaded)].filter((name) => !name.startsWith('node:')).sort()).toEqual(packages);
});

/** A browser has none; `core/bytes.ts` asks whether there is one. */
test('what runs in a browser does without Buffer', () => {
  const reached = new Set(files.map(({ path }) => path).filter((path) => IN_BROWSERS.test(path)));
  expect(reached.size).toBe(3);
  for (const path of reached)
    for (const next of files.find((file) => file.path === path)?.loads ?? []) reached.add(next);
  const wrong = files.filter(({ path, text }) => reached.has(path) && /\bBuffer\b/.test(text.replace(COMMENT, '')));
  expect(wrong.map(({ path }) => path)).toEqual(['core/bytes.ts']);
});

const IN_BROWSERS = /^exporter\/browser\/[a-z]+\/main\.ts$|^index\.browser\.ts$/;
const COMMENT = /\/\*\*.*?\*\/|\/\/.*$/gms;

/** Commands, flags and settings: whoever reads the verifier's words may run another program. */
const COMMAND_WORDS =
  /\bevidence (?:doctor|export|extend|help|hold|init|keygen|ledger|probe|release|restamp|runs|share|status|streams|verify|worker)\b|(?<![\w-])--[a-z][a-z-]+|\b(?:archive|queue|report|sign|source|verify)\.[a-z]+_[a-z_]+|\bEVIDENCE_[A-Z]/;
const LITERAL = /'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

test.each(['verifier/', 'library/'])(
  'no text in %s names a command, a flag or a setting of the command line',
  (folder) => {
    const wrong = files
      .filter(({ path }) => path.startsWith(folder))
      .flatMap(({ path, text }) => {
        const literals = text.replace(COMMENT, '').match(LITERAL) ?? [];
        const words = literals.map((literal) => literal.replace(/\$\{[^}]*\}/g, ''));
        return words.filter((literal) => COMMAND_WORDS.test(literal)).map((literal) => `${path}: ${literal}`);
      });
    expect(wrong).toEqual([]);
  },
);

test('one function waits, and it is the one with a bound', () => {
  const own = files.filter(({ path }) => /^(core|verifier|exporter)\//.test(path));
  const wrong = own.filter(({ text }) => /setTimeout.*from 'node:timers\/promises'/.test(text));
  expect(wrong.map(({ path }) => path)).toEqual(['core/wait.ts']);
});

/** JSON.parse keeps the last of two members of one name, and does not say so: `parseExactJson` does. */
test.each(['verifier/', 'library/', 'exporter/client/'])('%s reads JSON with an eye for ambiguity', (folder) => {
  const own = files.filter(({ path }) => path.startsWith(folder));
  expect(own.length).toBeGreaterThan(0);
  const wrong = own.filter(({ text }) => text.replace(COMMENT, '').includes('JSON.parse'));
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

test('no literal is spread within a literal, where the compiler checks no names', () => {
  const spread = files.filter(({ text }) => /\.\.\.\{/.test(text));
  expect(spread.map(({ path }) => path)).toEqual([]);
});

/** A comment that begins so names nothing: it begins with a noun or a verb. */
test('no comment begins with a relative word', () => {
  const opening =
    /(?:\/\*\*\s+(?:\* )?|(?<!\/\/[^\n]*\n)^[^\S\n]*\/\/ )(What|Whether|Whose|Who|Whoever|Which|Why|Of|Where|How|That|So many|So much)\b[^\n]*/gm;
  const headless = files.flatMap(({ path, text }) =>
    (text.match(opening) ?? []).map((comment) => `${path}: ${comment}`),
  );
  expect(headless).toEqual([]);
});

test('a file over 250 lines says why', () => {
  const long = files.filter(
    ({ path, text }) =>
      !path.endsWith('/tables.ts') && text.split('\n').length > 251 && !text.startsWith('// Over 250 lines: '),
  );
  expect(long.map(({ path }) => path)).toEqual([]);
});

describe('what is large', () => {
  const sizes = files.map(({ path, text }) => ({ path, ...sizesIn(path, text) }));

  test.each([
    ['functions', '40 lines', 40],
    ['objects', 'ten members', 10],
  ] as const)('%s over %s say why, in the line above them', (kind, words, most) => {
    const all = sizes.flatMap(({ path, [kind]: found }) => found.map((sized) => ({ path, ...sized })));
    expect(all.length).toBeGreaterThan(100);
    const isExplained = ({ above }: Sized) => above.startsWith(`// Over ${words}: `);
    const show = ({ path, line, name, size }: Sized & { path: string }) => `${path}:${line} ${name}: ${size}`;
    expect(all.filter((one) => one.size > most && !isExplained(one)).map(show)).toEqual([]);
    expect(all.filter((one) => one.size <= most && isExplained(one)).map(show)).toEqual([]);
  });
});

test('what tests share has no hooks of its own: a worker loads it for the first file alone', () => {
  const root = resolve(import.meta.dirname);
  const shared = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && path !== join('support', 'own-variables.ts'),
  );
  const hooked = shared.filter((path) =>
    /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(join(root, path), 'utf8')),
  );
  expect([shared.length > 100, hooked]).toEqual([true, []]);
});

test('the top level holds nothing but what belongs there', () => {
  const wanted = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'package-lock.json',
    'package.json',
    'src',
    'templates',
    'test',
    'tsconfig.json',
  ];
  const made = ['node_modules', 'dist', 'coverage', 'evidence-archive'];
  const there = readdirSync(resolve(src, '..')).filter((name) => !name.startsWith('.') && !made.includes(name));
  expect(there.filter((name) => !name.endsWith('.tgz')).sort()).toEqual(wanted);
});

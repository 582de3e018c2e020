import { eachFile, importing, type Rule, reexporting, roomOf, type SourceFile } from './sources.ts';

/**
 * Permitted imports between products, and between rooms of each: the tables of src/README.md. A room is a folder of a
 * product, or a file directly in it. A room may always import itself.
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
    lazy: [],
    'new-file': ['errors'],
    parallel: [],
    retry: [],
    rows: ['json'],
    'schema-words': [],
    secret: [],
    shell: [],
    'spare-memory': [],
    threads: ['defined', 'errors'],
    terminal: ['errors', 'install-paths', 'secret', 'plurals'],
    timestamp: ['errors'],
    typesetting: ['install-paths', 'lazy'],
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
    signature: [],
    claims: ['chain', 'model', 'pdf-text', 'reading', 'recipe'],
    supplements: ['claims', 'model', 'profile'],
    bundle: ['claims', 'model', 'supplements'],
    encryption: [],
    archive: [],
    records: ['archive', 'claims', 'model', 'signature', 'supplements'],
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
    'alert-enums': [],
    modules: [],
    scopes: ['modules'],
    errors: ['modules'],
    rows: ['database', 'errors'],
    folder: [],
    database: [],
    clock: ['database', 'errors'],
    jobs: ['clock', 'database', 'errors', 'http'],
    outgoing: ['database'],
    idempotency: ['database', 'errors', 'jobs'],
    timestamp: ['outgoing'],
    secrets: [],
    mail: ['jobs'],
    http: ['database', 'errors', 'modules', 'scopes'],
    operations: ['http', 'modules', 'scopes', 'web'],
    web: ['errors', 'http', 'scopes'],
    metrics: [],
    'master-key': ['database'],
    import: [],
    migrations: ['clock', 'database', 'idempotency', 'jobs', 'master-key', 'modules'],
    status: ['clock', 'database', 'errors', 'jobs', 'mail', 'master-key', 'metrics', 'migrations'],
    settings: ['mail'],
    'service-settings': ['module', 'modules'],
    config: ['http', 'mail', 'service-settings', 'settings', 'status'],
    setup: ['database', 'folder', 'master-key', 'migrations'],
    parts: ['clock', 'database', 'folder', 'jobs', 'setup'],
    waiting: ['database', 'http', 'options', 'parts', 'setup'],
    init: ['database', 'folder', 'master-key', 'parts', 'scopes', 'setup', 'timestamp'],
    posting: ['database', 'jobs', 'mail', 'open-module'],
    options: ['http', 'mail', 'parts', 'service-settings', 'status'],
    'settings-in-force': ['http', 'mail', 'options', 'service-settings'],
    'open-module': ['database', 'jobs', 'mail', 'options', 'parts', 'web'],
    'open-modules': ['folder', 'idempotency', 'jobs', 'modules', 'open-module', 'options', 'parts'],
    bootstrap: ['database', 'errors', 'mail', 'parts', 'scopes', 'settings'],
    app: [
      ...['bootstrap', 'database', 'http', 'idempotency', 'jobs', 'open-module', 'open-modules', 'options', 'parts'],
      ...['posting', 'status', 'web'],
      'waiting',
    ],
    backup: ['database', 'folder', 'setup'],
    demonstration: [],
    embedded: ['app', 'demonstration', 'folder', 'import', 'init', 'parts'],
    commands: [
      'app',
      'backup',
      'config',
      'database',
      'errors',
      'import',
      'init',
      'modules',
      'open-module',
      'parts',
      'scopes',
      'setup',
    ],
    'command-line': ['commands', 'setup'],
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

/** Files that may import from another product despite the tables. */
const DOORS = [
  'exporter/cli/commands/demo.ts -> platform/embedded.ts',
  'index.browser.ts -> exporter/browser/stand-ins/dispose.ts',
  'library/archive.ts -> exporter/archive/directory/archive.ts',
];

/** Rooms of the platform that every service may import. */
const KIT = [
  ...[
    'alert-enums',
    'clock',
    'database',
    'errors',
    'folder',
    'http',
    'idempotency',
    'jobs',
    'mail',
    'metrics',
    'module',
  ],
  ...[
    'modules',
    'open-module',
    'operations',
    'outgoing',
    'rows',
    'scopes',
    'secrets',
    'settings-in-force',
    'timestamp',
    'web',
  ],
];

/** Rooms of the platform that may import services. */
const ASSEMBLE = [
  ...['app', 'bootstrap', 'commands', 'demonstration', 'embedded', 'init', 'master-key', 'modules'],
  ...['open-module', 'open-modules', 'parts', 'posting', 'setup', 'status'],
];

/** Rooms whose code sees only its arguments. */
const PURE =
  /^(core\/(json|html|timestamp)|verifier\/(profile|decode|recipe|reading|model|chain|signature|claims|supplements)|sensor\/report|exporter\/report\/view)\//;
const IMPURE_IMPORTS =
  /^node:(fs|fs\/promises|net|http|https|child_process|os|timers|timers\/promises|dns|worker_threads)$|^undici$/;
const IMPURE_TEXT =
  /\bprocess\.|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.|\brandomUUID\b|\brandomBytes\b/;

/** Layers of a service, lowest first. Each file imports its own layer and lower ones. */
const LAYERS: readonly (readonly [name: string, files: RegExp])[] = [
  ['enums', /^enums\.ts$/],
  ['wire', /^wire(\.ts$|\/)/],
  ['tables', /(^|\/)tables\.ts$/],
  ['rows', /(^|[/-])rows\.ts$|(^|\/)repository\.ts$/],
  ['domain', /./],
  ['operations', /^operations(\.ts$|\/)|(^|\/)routes(\.ts$|\/)/],
  ['pages', /^pages\//],
  ['edge', /^(module|open|api)\.ts$/],
];

/** Returns the number of a file's layer: the last one that matches the file. The domain has all other files. */
function layerOf(path: string): number {
  const within = path.split('/').slice(2).join('/');
  const named = LAYERS.findLastIndex(([name, files]) => name !== 'domain' && files.test(within));
  return named === -1 ? LAYERS.findIndex(([name]) => name === 'domain') : named;
}

/** Returns the platform's folders with a `module.ts`. */
export function servicesOf(files: readonly SourceFile[]): ReadonlySet<string> {
  return new Set(files.flatMap(({ path, room }) => (/^platform\/[^/]+\/module\.ts$/.test(path) ? [room] : [])));
}

/** Makes a rule about imports between files of `src`; `isBroken` is called for each import. */
function eachImport(
  rule: string,
  isBroken: (from: SourceFile, to: string, services: ReadonlySet<string>) => boolean,
  rest: Pick<Rule, 'allowed' | 'example'>,
): Rule {
  const broken = (files: readonly SourceFile[]) => {
    const services = servicesOf(files);
    const found = files.flatMap((file) =>
      file.imports.filter((to) => isBroken(file, to, services)).map((to) => `${file.path} -> ${to}`),
    );
    return [...new Set(found)];
  };
  return { rule, broken, ...rest };
}

function mayImport(room: string, path: string, services: ReadonlySet<string>): boolean {
  const [product = '', name = ''] = room.split('/');
  const [other = '', otherName = ''] = roomOf(path).split('/');
  if (product !== other) return PRODUCTS[product]?.includes(other) === true;
  if (name === otherName) return true;
  if (services.has(roomOf(path))) return services.has(room) || ASSEMBLE.includes(name);
  if (services.has(room)) return KIT.includes(otherName);
  return ROOMS[product]?.[name]?.includes(otherName) === true;
}

/** Files that a decoy may import: the type of a use and, for AWS, signatures and requests. */
const DECOYS_KNOW = /^core\/|^platform\/traps\/(decoys\/|(use|enums)\.ts$|aws\/(sigv4|access-key)\.ts$)/;

/** Files that the sensor, and its report format, may import. */
const OF_SENSOR = /^core\/|^sensor\/|^node:[a-z_/]+$/;
const OF_REPORT = /^core\/|^sensor\/report\/|^node:(buffer|crypto)$/;

/** Returns all files that a file loads, including itself. */
function loadedBy(files: readonly SourceFile[], starts: readonly string[]): SourceFile[] {
  const reached = new Set(starts);
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (const path of reached) for (const next of byPath.get(path)?.loads ?? []) reached.add(next);
  return files.filter(({ path }) => reached.has(path));
}

/** Threads, which load their files again: each permitted package loads in a fraction of the time of zod. */
const THREADS = ['exporter/export/packing-thread.ts', 'verifier/pdf-text/reader-thread.ts'];

function cyclesIn(files: readonly SourceFile[]): string[] {
  // A module loads its service when the platform opens it, and the check of its rows.
  const opens = (path: string, to: string) =>
    path.endsWith('/module.ts') && [path.replace(/module/, 'open'), path.replace(/module/, 'check')].includes(to);
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
  return cycles;
}

export const IMPORT_RULES: readonly Rule[] = [
  {
    rule: 'every room of src is in the tables, and the tables name no other',
    broken(files) {
      const rooms = new Set(files.map(({ room }) => room));
      const named = Object.entries(ROOMS).flatMap(([product, own]) =>
        Object.keys(own).map((room) => `${product}/${room}`),
      );
      const known = new Set([...named, ...servicesOf(files)]);
      return [...[...rooms].filter((room) => !known.has(room)), ...[...known].filter((room) => !rooms.has(room))];
    },
    example: ['core/example.ts', '', 'core/example'],
  },
  {
    rule: 'every import leads to a file of src',
    broken(files) {
      const known = new Set(files.map(({ path }) => path));
      return files.flatMap(({ path, imports }) =>
        imports.filter((to) => !known.has(to)).map((to) => `${path} -> ${to}`),
      );
    },
    example: ['core/wait.ts', importing('./none.ts'), 'core/wait.ts -> core/none.ts'],
  },
  eachImport('every file imports only what its room may', ({ room }, to, services) => !mayImport(room, to, services), {
    allowed: DOORS,
    example: [
      'core/json/example.ts',
      importing('../../verifier/model/finding.ts'),
      'core/json/example.ts -> verifier/model/finding.ts',
    ],
  }),
  {
    rule: 'these rooms of the platform name a service, and no other',
    broken(files) {
      const services = servicesOf(files);
      const naming = files.filter(
        ({ room, imports }) => !services.has(room) && imports.some((to) => services.has(roomOf(to))),
      );
      return [...new Set(naming.map(({ room }) => room))];
    },
    allowed: ASSEMBLE.map((room) => `platform/${room}`),
    example: ['platform/jobs/example.ts', importing('../traps/traps.ts'), 'platform/jobs'],
  },
  eachImport(
    'a service of the platform imports another one by its api.ts alone',
    ({ room }, to, services) =>
      services.has(room) && services.has(roomOf(to)) && roomOf(to) !== room && !to.endsWith('/api.ts'),
    {
      example: [
        'platform/traps/example.ts',
        importing('../accounts/people.ts'),
        'platform/traps/example.ts -> platform/accounts/people.ts',
      ],
    },
  ),
  eachImport(
    'a file of a service imports its own layer and lower ones',
    ({ path, room }, to, services) =>
      services.has(room) && roomOf(to) === room && layerOf(to) > layerOf(path) && layerOf(path) < LAYERS.length - 1,
    {
      example: [
        'platform/traps/wire/example.ts',
        importing('../rules.ts'),
        'platform/traps/wire/example.ts -> platform/traps/rules.ts',
      ],
    },
  ),
  {
    rule: 'no file imports itself, over however many others',
    broken: cyclesIn,
    example: ['core/json/example.ts', reexporting('./example.ts'), 'core/json/example.ts -> core/json/example.ts'],
  },
  eachFile(
    'only the rooms of databases know a driver',
    /^(?!platform\/database\/|exporter\/queue\/)/,
    ({ packages }) => packages.filter((name) => ['node:sqlite', 'pg'].includes(name)),
    { example: ['platform/jobs/example.ts', importing('pg'), 'platform/jobs/example.ts: pg'] },
  ),
  eachFile(
    'the sensor loads no package',
    /^sensor\//,
    ({ imports, packages }) => [...imports, ...packages].filter((to) => !OF_SENSOR.test(to)),
    { example: ['sensor/example.ts', importing('zod'), 'sensor/example.ts: zod'] },
  ),
  eachFile(
    'the format of a report needs bytes and digests alone',
    /^sensor\/report\//,
    ({ imports, packages }) => [...imports, ...packages].filter((to) => !OF_REPORT.test(to)),
    { example: ['sensor/report/example.ts', importing('node:fs'), 'sensor/report/example.ts: node:fs'] },
  ),
  eachFile(
    'a decoy knows neither the platform nor what becomes of what it sees',
    /^platform\/traps\/decoys\//,
    ({ imports }) => imports.filter((to) => !DECOYS_KNOW.test(to)),
    {
      example: [
        'platform/traps/decoys/example.ts',
        importing('../traps.ts'),
        'platform/traps/decoys/example.ts: platform/traps/traps.ts',
      ],
    },
  ),
  eachFile(
    'what is pure imports no disk, network or clock',
    PURE,
    ({ packages }) => packages.filter((name) => IMPURE_IMPORTS.test(name)),
    { example: ['verifier/chain/example.ts', importing('node:fs'), 'verifier/chain/example.ts: node:fs'] },
  ),
  eachFile(
    'what is pure asks for no environment, time or randomness',
    PURE,
    ({ text }) => text.split('\n').filter((line) => IMPURE_TEXT.test(line)),
    {
      example: [
        'verifier/claims/example.ts',
        'export const now = Date.now();',
        'verifier/claims/example.ts: export const now = Date.now();',
      ],
    },
  ),
  {
    rule: 'a thread loads few packages',
    broken: (files) =>
      THREADS.flatMap((thread) => {
        const loaded = loadedBy(files, [thread]).flatMap(({ packages }) => packages);
        return [...new Set(loaded)].filter((name) => !name.startsWith('node:')).map((name) => `${thread}: ${name}`);
      }),
    allowed: ['exporter/export/packing-thread.ts: archiver', 'verifier/pdf-text/reader-thread.ts: unpdf'],
    example: [
      'exporter/bundle/write.ts',
      "import 'archiver';\nimport 'zod';",
      'exporter/export/packing-thread.ts: zod',
    ],
  },
  {
    rule: 'what runs in a browser does without Buffer',
    broken(files) {
      const starts = files.map(({ path }) => path).filter((path) => IN_BROWSERS.test(path));
      return loadedBy(files, starts).flatMap(({ path, code }) => (/\bBuffer\b/.test(code) ? path : []));
    },
    // bytes.ts checks that Buffer exists.
    allowed: ['core/bytes.ts'],
    example: ['exporter/browser/example/main.ts', 'Buffer.alloc(1);', 'exporter/browser/example/main.ts'],
  },
];

const IN_BROWSERS = /^exporter\/browser\/[a-z]+\/main\.ts$|^index\.browser\.ts$/;

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const src = resolve(import.meta.dirname, '../src');

/** Which folder may import which: the table of src/README.md. A folder may always import itself. */
const MAY_IMPORT: Record<string, string[]> = {
  crash: [],
  errors: [],
  package: [],
  plural: [],
  encoding: ['errors'],
  kernel: ['encoding', 'errors'],
  contract: ['encoding', 'errors', 'kernel'],
  pdf: ['contract', 'errors', 'package'],
  typesetting: [],
  chain: ['contract', 'encoding', 'errors', 'kernel'],
  timestamp: ['encoding', 'errors'],
  signature: ['encoding', 'errors'],
  claims: ['chain', 'contract', 'errors', 'plural', 'timestamp'],
  client: ['contract', 'encoding', 'errors'],
  probe: ['client', 'contract', 'encoding', 'errors', 'plural'],
  bundle: ['claims', 'encoding', 'errors'],
  encryption: ['encoding', 'errors'],
  archive: ['errors'],
  ledger: ['archive', 'claims', 'encoding', 'errors', 'signature', 'timestamp'],
  report: ['bundle', 'chain', 'claims', 'encoding', 'errors', 'ledger', 'package', 'plural', 'typesetting'],
  browser: ['bundle', 'claims', 'errors', 'report', 'timestamp', 'verify'],
  export: [
    'archive',
    'bundle',
    'chain',
    'claims',
    'client',
    'contract',
    'encoding',
    'encryption',
    'errors',
    'ledger',
    'package',
    'pdf',
    'plural',
    'report',
    'signature',
    'timestamp',
    'verify',
  ],
  share: ['archive', 'encoding', 'errors', 'ledger', 'report', 'signature'],
  doctor: ['archive', 'client', 'errors', 'export', 'ledger', 'plural'],
  verify: [
    'archive',
    'bundle',
    'chain',
    'claims',
    'contract',
    'encoding',
    'encryption',
    'errors',
    'ledger',
    'package',
    'pdf',
    'plural',
    'signature',
    'timestamp',
  ],
  cli: [
    'archive',
    'bundle',
    'chain',
    'claims',
    'client',
    'contract',
    'crash',
    'doctor',
    'encoding',
    'encryption',
    'errors',
    'export',
    'ledger',
    'package',
    'plural',
    'probe',
    'report',
    'share',
    'signature',
    'timestamp',
    'verify',
  ],
  platform: ['contract', 'crash', 'encoding', 'errors', 'typesetting'],
};

/** Of the platform's services and shared rooms: what each may import within `platform/`. */
const PLATFORM_DOOR = 'platform/embedded.ts';

/** Folders whose code sees only its arguments. */
const PURE = ['encoding', 'kernel', 'contract', 'chain', 'timestamp', 'signature', 'claims', 'report/view'];
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

function readSources(): SourceFile[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(join(src, path), 'utf8');
      const specifiers = [...text.matchAll(IMPORTED)].map((match) => match[1] ?? '');
      const slashed = path.split(sep).join('/');
      const localIn = (code: string) =>
        [...code.matchAll(IMPORTED)]
          .filter(([, specifier]) => specifier?.startsWith('.'))
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

function roomOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.ts$/, '');
}

test('every folder of src is in the table, and the table names no other', () => {
  expect([...new Set(files.map((file) => file.room))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test('every import leads to a file of src', () => {
  const known = new Set(files.map((file) => file.path));
  expect(files.flatMap((file) => file.imports.filter((path) => !known.has(path)))).toEqual([]);
  expect(files.reduce((sum, file) => sum + file.imports.length, 0)).toBeGreaterThan(100);
});

describe.each(files.map((file) => [file.path, file] as const))('%s', (_path, file) => {
  test('imports only what its folder may', () => {
    const allowed = new Set([file.room, ...(MAY_IMPORT[file.room] ?? [])]);
    const demoDoor = file.path === 'cli/demo.ts' ? [PLATFORM_DOOR] : [];
    const wrong = file.imports.filter((path) => !allowed.has(roomOf(path)) && !demoDoor.includes(path));
    expect(wrong).toEqual([]);
  });
});

describe.each(PURE)('%s is pure', (room) => {
  test.each(files.filter((file) => file.path.startsWith(`${room}/`)).map((file) => [file.path, file] as const))(
    '%s touches no disk, network, environment, clock or randomness',
    (_path, file) => {
      expect(file.packages.filter((name) => IMPURE_IMPORTS.test(name))).toEqual([]);
      expect(file.text.split('\n').filter((line) => IMPURE_TEXT.test(line))).toEqual([]);
    },
  );
});

test('no file imports itself, over however many others', () => {
  const graph = new Map(files.map((file) => [file.path, file.imports]));
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
  ['export/packing-thread.ts', ['archiver', 'yauzl']],
  ['pdf/reader-thread.ts', ['unpdf']],
])('the thread %s loads no other packages than %j', (thread, packages) => {
  const reached = new Set([thread]);
  for (const path of reached)
    for (const next of files.find((file) => file.path === path)?.loads ?? []) reached.add(next);
  const loaded = files.filter(({ path }) => reached.has(path)).flatMap((file) => file.packages);
  expect([...new Set(loaded)].filter((name) => !name.startsWith('node:')).sort()).toEqual(packages);
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

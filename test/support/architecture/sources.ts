import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type ESTree, parseSync } from 'rolldown/utils';
import { lazy } from '../../../src/core/lazy.ts';
import { type Sizes, sizesIn } from '../sizes.ts';

export const ROOT = resolve(import.meta.dirname, '../../..');

/** A source file as the rules see it. */
export interface SourceFile {
  /** Path relative to `src`, with `/`. */
  path: string;
  /** Folder of a product, or a file directly in the product's folder. */
  room: string;
  text: string;
  /** Text without comments. */
  code: string;
  /** Imported files of `src`, relative to it. */
  imports: string[];
  /** Files of `imports` from which more than types is imported. */
  loads: string[];
  /** Imported packages, and modules of Node. */
  packages: string[];
  program(): ESTree.Program;
  sizes(): Sizes;
}

const IMPORTED = /(?:from|import)\s*\(?\s*'([^']+)'/g;
/** Statements that import or export only types. */
const OF_TYPES = /^(?:import|export) (?:type \{[^}]*\}|\{(?:\s*type [^,}]+,?)+\s*\}) from '[^']+';$/gm;
const COMMENT = /\/\*\*.*?\*\/|\/\/.*?$/gms;

/** Reads every TypeScript file of a folder. */
export function readSources(folder: 'src' | 'test'): SourceFile[] {
  const root = join(ROOT, folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => sourceOf(path.split(sep).join('/'), readFileSync(join(root, path), 'utf8')));
}

/** Returns a file of `src` with its imports resolved. @param path relative to `src`. */
export function sourceOf(path: string, text: string): SourceFile {
  const specifiersIn = (code: string) => [...code.matchAll(IMPORTED)].map(([, specifier = '']) => specifier);
  const localIn = (code: string) =>
    specifiersIn(code)
      .filter((specifier) => specifier.startsWith('.') && !specifier.endsWith('.json'))
      .map((specifier) =>
        relative(ROOT, resolve(ROOT, dirname(path), specifier))
          .split(sep)
          .join('/'),
      );
  return {
    path,
    room: roomOf(path),
    text,
    code: text.replace(COMMENT, ''),
    imports: localIn(text),
    loads: localIn(text.replace(OF_TYPES, '')),
    packages: specifiersIn(text).filter((specifier) => !specifier.startsWith('.')),
    program: lazy(() => parseSync(path, text).program),
    sizes: lazy(() => sizesIn(path, text)),
  };
}

/**
 * Returns the room of a path: `verifier/chain` for `verifier/chain/walk.ts`, `core/errors` for `core/errors.ts`. Files
 * directly in `src` belong to the library.
 */
export function roomOf(path: string): string {
  if (!path.includes('/')) return `library/${path.replace(/\.ts$/, '')}`;
  return path.split('/').slice(0, 2).join('/').replace(/\.ts$/, '');
}

/** A rule of the architecture, with a file that breaks it. */
export interface Rule {
  /** The rule as a sentence. */
  rule: string;
  /** Returns each violation, as a path with a description. */
  broken(files: readonly SourceFile[]): string[];
  /** True if each file is checked independently of the others. */
  isOfOneFile?: boolean;
  /** Permitted violations. The list may only shrink. */
  allowed?: readonly string[];
  /** Path and text of a file that breaks the rule, and the reported violation. */
  example: readonly [path: string, text: string, reported: string];
}

/**
 * Makes a rule about each file by itself.
 * @param find returns the violations; an empty text stands for the whole file.
 */
export function eachFile(
  rule: string,
  within: RegExp,
  find: (file: SourceFile) => readonly string[],
  rest: Pick<Rule, 'allowed' | 'example'>,
): Rule {
  const broken = (files: readonly SourceFile[]) =>
    files
      .filter(({ path }) => within.test(path))
      .flatMap((file) => find(file).map((found) => (found === '' ? file.path : `${file.path}: ${found}`)));
  return { rule, broken, isOfOneFile: true, ...rest };
}

/** Makes a rule about a number that may only fall. @param example text that counts as one. */
export function atMost(
  rule: string,
  most: number,
  count: (file: SourceFile) => number,
  [path, text]: readonly [path: string, text: string],
): Rule {
  const broken = (files: readonly SourceFile[]) => {
    const sum = files.reduce((before, file) => before + count(file), 0);
    return sum > most ? [`${sum} instead of ${most}`] : [];
  };
  return { rule, broken, isOfOneFile: true, example: [path, text.repeat(most + 1), `${most + 1} instead of ${most}`] };
}

/** Makes a rule that no file's code matches a pattern. */
export function nowhere(rule: string, within: RegExp, pattern: RegExp, rest: Pick<Rule, 'allowed' | 'example'>): Rule {
  return eachFile(rule, within, ({ code }) => (pattern.test(code) ? [''] : []), rest);
}

/** Statements for examples, built so that the readers of imports do not find them here. */
export const importing = (specifier: string) => `import { example } from '${specifier}';`;
export const reexporting = (specifier: string) => `export { example } from '${specifier}';`;

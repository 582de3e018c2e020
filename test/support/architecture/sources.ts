import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type ESTree, parseSync } from 'rolldown/utils';
import { lazy } from '../../../src/core/lazy.ts';
import { type Sizes, sizesIn } from '../sizes.ts';

export const ROOT = resolve(import.meta.dirname, '../../..');

/** A file of `src` as rules see it. */
export interface SourceFile {
  /** Relative to `src`, with `/`. */
  path: string;
  /** The folder of a product, or the file that stands in the product itself. */
  room: string;
  text: string;
  /** The text without comments. */
  code: string;
  /** Imported files of `src`, relative to it. */
  imports: string[];
  /** Those of `imports` that are imported for more than types. */
  loads: string[];
  /** Imported packages, and modules of Node. */
  packages: string[];
  program(): ESTree.Program;
  sizes(): Sizes;
}

const IMPORTED = /(?:from|import)\s*\(?\s*'([^']+)'/g;
/** A statement that imports or exports types alone. */
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

/** `verifier/chain` of `verifier/chain/walk.ts`, `core/errors` of `core/errors.ts`; what stands in `src` itself is of the library. */
export function roomOf(path: string): string {
  if (!path.includes('/')) return `library/${path.replace(/\.ts$/, '')}`;
  return path.split('/').slice(0, 2).join('/').replace(/\.ts$/, '');
}

/** A rule of the architecture, with a file that breaks it. */
export interface Rule {
  /** The rule as a sentence. */
  rule: string;
  /** Names each place that breaks the rule, by its path and what is wrong there. */
  broken(files: readonly SourceFile[]): string[];
  /** True if no file decides whether another one breaks it. */
  isOfOneFile?: boolean;
  /** The places that may break it. The list may only shrink. */
  allowed?: readonly string[];
  /** The path and the text of a file that breaks it, and what is reported of the file. */
  example: readonly [path: string, text: string, reported: string];
}

/** A rule about each file by itself. @param find returns what breaks the rule; an empty text for the file as a whole. */
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

/** A rule about a number that may only fall. @param example a text that counts as one. */
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

/** A rule that no file has a text in its code. */
export function nowhere(rule: string, within: RegExp, pattern: RegExp, rest: Pick<Rule, 'allowed' | 'example'>): Rule {
  return eachFile(rule, within, ({ code }) => (pattern.test(code) ? [''] : []), rest);
}

/** Statements of examples, which no reader of this file's own imports takes for one. */
export const importing = (specifier: string) => `import { example } from '${specifier}';`;
export const reexporting = (specifier: string) => `export { example } from '${specifier}';`;

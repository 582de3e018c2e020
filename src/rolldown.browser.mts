import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

const SRC = import.meta.dirname;

/** What report.html carries; each is `src/exporter/browser/NAME/main.ts`. */
export const BROWSER_PROGRAMS = ['page', 'verifier'] as const;

const standIn = (name: string) => join(SRC, 'exporter/browser/stand-ins', `${name}.ts`);

/** What a browser has not got, and what stands in for it there. */
const STAND_INS: Record<string, string> = {
  'node:crypto': standIn('crypto'),
  'node:zlib': standIn('zlib'),
};

/** A program of report.html as one text that needs nothing else, with the licences of what is in it. */
export function buildForBrowser(name: (typeof BROWSER_PROGRAMS)[number]): Promise<BuiltForBrowser> {
  return buildOne(join('exporter/browser', name, 'main.ts'), 'iife');
}

/** The library as a module that needs nothing else, likewise. */
export function buildLibraryForBrowser(): Promise<BuiltForBrowser> {
  return buildOne('index.browser.ts', 'esm');
}

interface BuiltForBrowser {
  code: string;
  /** Of the packages that are in it. */
  folders: string[];
}

async function buildOne(source: string, format: 'esm' | 'iife'): Promise<BuiltForBrowser> {
  const { output } = await build({
    cwd: join(SRC, '..'),
    input: join(SRC, source),
    platform: 'browser',
    resolve: { alias: STAND_INS },
    // What `using` is made of, most browsers have not got.
    transform: { target: 'es2024' },
    write: false,
    output: { format, minify: true, codeSplitting: false },
  });
  const [chunk] = output;
  const folders = foldersOf(Object.keys(chunk.modules));
  const licences = folders.map(licenceOf).join('\n');
  return { code: `${chunk.code.trim()}\n${licences === '' ? '' : `/*\n${licences}*/\n`}`, folders };
}

/** The folders of the packages that modules are of, each once. */
export function foldersOf(modules: readonly string[]): string[] {
  return [...new Set(modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))].toSorted();
}

/** A package that does not carry the text of its licence ends the build. */
export function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).toSorted();
  const texts = files
    .filter((file) => /^(licen[cs]e|readme)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  // Some have it at the end of what they say of themselves.
  const text = texts.find((each) => PERMISSION.test(each));
  if (text === undefined) throw new Error(`${name} does not carry its licence, so it cannot be part of dist`);
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

const PERMISSION =
  /Permission (is hereby granted|to use)|Redistribution and use|TERMS AND CONDITIONS FOR USE|everyone as much permission/;

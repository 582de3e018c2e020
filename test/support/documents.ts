import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const TOPICS = 'templates/help';

/** A text for users, with its path in the checkout. */
export interface Document {
  path: string;
  text: string;
}

/** A fenced block. */
export interface Fenced {
  path: string;
  /** Language after the opening fence; empty for none. */
  language: string;
  text: string;
  /** Zero-based index among the document's blocks of this language. */
  index: number;
}

/** Reads README.md and the topics of `evidence help` and `evidence-platform help`. */
export function readDocuments(): Document[] {
  const names = readdirSync(join(ROOT, TOPICS), { recursive: true, encoding: 'utf8' });
  const topics = names.filter((name) => name.endsWith('.md')).map((name) => `${TOPICS}/${name}`);
  return ['README.md', ...topics.sort()].map(readDocument);
}

export function readDocument(path: string): Document {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

export function fencedIn({ path, text }: Document): Fenced[] {
  const counts = new Map<string, number>();
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', inner = '']) => {
    const index = counts.get(language) ?? 0;
    counts.set(language, index + 1);
    return { path, language, text: inner, index };
  });
}

/** Returns the shell lines of a topic or of the README. */
export function shellLines(name: string, index: number): string {
  const path = name === 'README' ? 'README.md' : `${TOPICS}/${name}.md`;
  const found = fencedIn(readDocument(path)).filter(({ language }) => language === 'sh')[index];
  if (found === undefined) throw new Error(`${path} has no ${index + 1} blocks for the shell`);
  return found.text;
}

/**
 * Returns the name of a document: `claims` for `templates/help/claims.md`, `platform/run` for
 * `templates/help/platform/run.md`, `README` for `README.md`.
 */
export function nameOf(path: string): string {
  const folder = path.startsWith(`${TOPICS}/platform/`) ? 'platform/' : '';
  return `${folder}${basename(path, '.md')}`;
}

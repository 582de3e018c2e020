import { lstatSync, realpathSync } from 'node:fs';
import type { EndpointLine } from '../report/line.ts';
import { type BytePath, bytesOf, toBytePath } from './bytes.ts';
import { unreadLine } from './entry.ts';

/** The beginning of a walk. */
export interface Root {
  path: BytePath;
  isFolder: boolean;
  /** The reason that nothing can be said of what is there. */
  problem: EndpointLine | null;
}

/**
 * Follows links among roots and takes each place once: a root within another adds nothing to walk, and one that
 * does not exist nothing at all.
 * @param paths absolute, as text.
 */
export function resolveRoots(paths: readonly string[]): Root[] {
  const roots = paths.map(resolveRoot).filter((root) => root !== null);
  const ordered = roots.sort((one, other) => (isBefore(one.path, other.path) ? -1 : 1));
  const kept: Root[] = [];
  for (const root of ordered) {
    const last = kept.at(-1);
    if (last === undefined || !isWithin(root.path, last.path)) kept.push(root);
  }
  return kept;
}

/** Follows links, for paths that exist. */
export function resolvePaths(paths: readonly string[]): BytePath[] {
  return paths.flatMap((path) => resolveRoot(path)?.path ?? []);
}

/** True if a path is another one, or under it. */
export function isWithin(path: BytePath, folder: BytePath): boolean {
  return path === folder || path.startsWith(inside(folder));
}

/** The prefix of paths in a folder. */
export function inside(folder: BytePath): BytePath {
  return folder === '/' ? '/' : `${folder}/`;
}

function isBefore(one: BytePath, other: BytePath): boolean {
  return inside(one) < inside(other);
}

function resolveRoot(text: string): Root | null {
  let path = toBytePath(text);
  try {
    path = toBytePath(realpathSync.native(text, { encoding: 'buffer' }));
    return { path, isFolder: lstatSync(bytesOf(path)).isDirectory(), problem: null };
  } catch (error) {
    const problem = unreadLine(path, error, null);
    return problem === null ? null : { path, isFolder: false, problem };
  }
}

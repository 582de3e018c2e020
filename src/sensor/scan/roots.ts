import { lstatSync, realpathSync } from 'node:fs';
import type { EndpointLine } from '../report/line.ts';
import { type BytePath, bytesOf, toBytePath } from './bytes.ts';
import { unreadLine } from './entry.ts';

/** Start of a walk. */
export interface Root {
  path: BytePath;
  isFolder: boolean;
  /** Line that states why the root cannot be examined; null if it can. */
  problem: EndpointLine | null;
}

/**
 * Follows links among roots and takes each place once. A root inside another is dropped, and so is a root that does not
 * exist.
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

/** Resolves links of the paths that exist. */
export function resolvePaths(paths: readonly string[]): BytePath[] {
  return paths.flatMap((path) => resolveRoot(path)?.path ?? []);
}

/** Reports whether a path equals a folder or is under it. */
export function isWithin(path: BytePath, folder: BytePath): boolean {
  return path === folder || path.startsWith(inside(folder));
}

/** Returns the prefix of paths in a folder. */
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

import type { EndpointLine } from '../report/line.ts';
import { LineRoot } from '../report/root.ts';
import { lineAt } from './entry.ts';
import { FileReader } from './file.ts';
import type { ReadingPace } from './pace.ts';
import { resolvePaths, resolveRoots } from './roots.ts';
import { TreeWalk } from './walk.ts';

export interface ScanOptions {
  /** Folders and files, absolute; a link is walked at its target. */
  roots: readonly string[];
  /** Mounts that are walked as well where they are under a root. */
  otherFilesystems: readonly string[];
  pace: ReadingPace;
  /** Takes the canonical text of a line; they come in the order of their paths' bytes. */
  write(text: string): void;
}

export interface ScanResult {
  /** Lower-case hex. */
  rootHash: string;
  lineCount: number;
  /** True if each folder could be listed, so that a missing line means a missing file. */
  complete: boolean;
  /** The number of lines for files that could not be read, or kept changing. */
  unread: number;
  /** The number of bytes read. */
  bytes: number;
}

/**
 * Says what stands at each path under the roots now. Nothing that was known before plays a part: every file is read.
 */
export async function scan({ roots, otherFilesystems, pace, write }: ScanOptions): Promise<ScanResult> {
  const files = new FileReader(pace);
  const root = new LineRoot();
  const walk = new TreeWalk([...resolvePaths(roots), ...resolvePaths(otherFilesystems)]);
  let unread = 0;
  for (const found of walk.through(resolveRoots(roots))) {
    const line = found.line ?? (await lineAt(found.path, files));
    if (line === null) continue;
    if (isUnread(line)) unread++;
    write(root.add(line));
  }
  return { rootHash: root.root(), lineCount: root.count, complete: walk.isComplete, unread, bytes: files.bytes };
}

function isUnread({ type }: EndpointLine): boolean {
  return type === 'unreadable' || type === 'unstable' || type === 'other';
}

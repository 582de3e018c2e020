import type { EndpointLine } from '../report/line.ts';
import { LineRoot } from '../report/root.ts';
import { lineAt } from './entry.ts';
import { FileReader } from './file.ts';
import type { ReadingPace } from './pace.ts';
import { resolvePaths, resolveRoots } from './roots.ts';
import { TreeWalk } from './walk.ts';

export interface ScanOptions {
  /** Absolute folders and files; a link is walked at its target. */
  roots: readonly string[];
  /** Mounts under a root that are also walked. */
  otherFilesystems: readonly string[];
  pace: ReadingPace;
  /** Receives the canonical text of each line, in the order of the paths' bytes. */
  write(text: string): void;
}

export interface ScanResult {
  /** Root hash over all lines, in lowercase hex. */
  rootHash: string;
  lineCount: number;
  /** True if every folder could be listed, so that a missing line means a missing file. */
  complete: boolean;
  /** Number of lines for files that could not be read or kept changing. */
  unread: number;
  /** Number of bytes read. */
  bytes: number;
}

/** Writes a line for each path that exists under the roots. Every file is read; earlier scans have no influence. */
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

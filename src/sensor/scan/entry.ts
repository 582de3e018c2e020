import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { isSystemError } from '../../core/errors.ts';
import { type EndpointLine, toLinkTarget } from '../report/line.ts';
import { type BytePath, bytesOf, pathName } from './bytes.ts';
import { type FileReader, ownershipOf } from './file.ts';

/** Error codes that mean that nothing exists at the path. */
const GONE = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Returns the line for a path that is no folder; null if nothing exists there. An unreadable file gets a line that
 * states it.
 */
export async function lineAt(path: BytePath, files: FileReader): Promise<EndpointLine | null> {
  let stats: Stats | null = null;
  try {
    stats = lstatSync(bytesOf(path));
    const line = stats.isFile() ? await files.lineOf(path) : lineOfOther(path, stats);
    // Something else has replaced the file, or a folder has appeared where none was listed.
    return line ?? { ...pathName(path), type: 'unstable', why: 'changed', ...ownershipOf(stats) };
  } catch (error) {
    return unreadLine(path, error, stats);
  }
}

/**
 * Returns the line of a path that the system refused to read; null if nothing exists there.
 * @throws errors that are no system errors.
 */
export function unreadLine(path: BytePath, error: unknown, stats: Stats | null): EndpointLine | null {
  if (!isSystemError(error)) throw error;
  const why = error.code ?? 'EIO';
  if (GONE.has(why)) return null;
  const size = stats?.isFile() ? { size: stats.size } : {};
  return { ...pathName(path), type: 'unreadable', why, ...size, ...(stats === null ? {} : ownershipOf(stats)) };
}

function lineOfOther(path: BytePath, stats: Stats): EndpointLine | null {
  const known = { ...pathName(path), ...ownershipOf(stats) };
  if (stats.isSymbolicLink())
    return { ...known, type: 'link', ...toLinkTarget(readlinkSync(bytesOf(path), { encoding: 'buffer' })) };
  if (stats.isFIFO()) return { ...known, type: 'fifo' };
  if (stats.isSocket()) return { ...known, type: 'socket' };
  if (stats.isCharacterDevice()) return { ...known, type: 'device', device: `char ${deviceNumbers(stats.rdev)}` };
  if (stats.isBlockDevice()) return { ...known, type: 'device', device: `block ${deviceNumbers(stats.rdev)}` };
  return null;
}

/** Returns major and minor as Linux packs them (makedev(3)). */
function deviceNumbers(device: number): string {
  const rdev = BigInt(device);
  const major = ((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & ~0xfffn);
  const minor = (rdev & 0xffn) | ((rdev >> 12n) & ~0xffn & 0xffffffffn);
  return `${major}:${minor}`;
}

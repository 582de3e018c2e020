import { isUtf8 } from 'node:buffer';
import { canonicalize, type Json } from '../../core/json/canonical.ts';

/** Path as text or, if it is not UTF-8, its bytes in base64 (RFC 4648 section 4). */
export type PathName = { path: string; path_base64?: never } | { path?: never; path_base64: string };

/** Target of a link, encoded like a path. */
type LinkTarget = { target: string; target_base64?: never } | { target?: never; target_base64: string };

/** Permissions as four octal digits (`4755`), and numeric owner and group. */
export type Ownership = { mode: string; uid: number; gid: number };

/** Regular file. `sha256` is lowercase hex, `size` in bytes. */
export type FileLine = PathName & Ownership & { type: 'file'; sha256: string; size: number };

type LinkLine = PathName & Ownership & LinkTarget & { type: 'link' };

/** FIFO or socket, or a device with its numbers: `char 1:3`, `block 8:0`. */
type SpecialLine = PathName & Ownership & ({ type: 'fifo' | 'socket' } | { type: 'device'; device: string });

/** File that could not be read or kept changing. `why` is an errno name (`EACCES`), `changed` or `other_filesystem`. */
type UnreadLine = PathName &
  Partial<Ownership> & { type: 'unreadable' | 'unstable' | 'other'; why: string; size?: number };

/** Line for one path of an endpoint. */
export type EndpointLine = FileLine | LinkLine | SpecialLine | UnreadLine;

/** Matches `//`, `/./` and `/../`, also at the end. */
const LONGER_THAN_NEEDED = /\/\.{0,2}(\/|$)/;

/** Converts the bytes of a path to the form of a line. */
export function toPathName(bytes: Buffer): PathName {
  return isUtf8(bytes) ? { path: bytes.toString('utf8') } : { path_base64: bytes.toString('base64') };
}

export function toLinkTarget(bytes: Buffer): LinkTarget {
  return isUtf8(bytes) ? { target: bytes.toString('utf8') } : { target_base64: bytes.toString('base64') };
}

/** Returns the bytes of a path as the operating system knows it. */
export function pathBytes(name: PathName): Buffer {
  return name.path === undefined ? Buffer.from(name.path_base64, 'base64') : Buffer.from(name.path, 'utf8');
}

/** Returns the canonical text of a line: RFC 8785. */
export function canonicalLine(line: EndpointLine): string {
  return canonicalize(line as Json);
}

/**
 * Returns how a line of the right shape differs from the lines that a sensor writes; null if it does not. Every path
 * has exactly one form, because otherwise two lines could describe the same file.
 */
export function faultInLine(line: EndpointLine): string | null {
  const fault = faultInPath(line);
  if (fault !== null) return fault;
  if (line.type === 'link' && line.target_base64 !== undefined) return faultInBase64(line.target_base64, 'target');
  return null;
}

function faultInPath(name: PathName): string | null {
  if (name.path_base64 !== undefined) {
    const fault = faultInBase64(name.path_base64, 'path');
    if (fault !== null) return fault;
  }
  const bytes = pathBytes(name);
  if (bytes[0] !== 0x2f) return 'a path does not begin with /';
  if (bytes.includes(0)) return 'a path contains a zero byte';
  if (name.path !== undefined && !name.path.isWellFormed()) return 'a path contains a lone surrogate';
  if (LONGER_THAN_NEEDED.test(bytes.toString('latin1'))) return 'a path is not in its shortest form';
  return null;
}

function faultInBase64(base64: string, field: 'path' | 'target'): string | null {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return `${field}_base64 is not canonical base64`;
  return isUtf8(bytes) ? `${field}_base64 is UTF-8, which belongs in ${field}` : null;
}

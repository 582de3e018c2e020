import { lstatSync, readdirSync } from 'node:fs';
import type { EndpointLine } from '../report/line.ts';
import { type BytePath, bytesOf, pathName, toBytePath } from './bytes.ts';
import { unreadLine } from './entry.ts';
import { isUnchanged } from './file.ts';
import { ownershipOf } from './ownership.ts';

const TRIES = 3;

/** The contents of a folder. */
export interface Listing {
  /** Its file system. */
  device: bigint;
  entries: { name: BytePath; isFolder: boolean }[];
}

export type Look =
  /** A folder that was listed; with a line where it kept changing meanwhile. */
  | { looked: 'listed'; listing: Listing; line: EndpointLine | null }
  /** A folder that is not walked, and why. */
  | { looked: 'closed'; line: EndpointLine; isRefused: boolean }
  | { looked: 'no folder' }
  | { looked: 'gone' };

/** @param mayEnter whether a folder of this file system is walked. */
export function lookInto(path: BytePath, mayEnter: (device: bigint) => boolean): Look {
  try {
    return list(path, mayEnter);
  } catch (error) {
    const line = unreadLine(path, error, null);
    return line === null ? { looked: 'gone' } : { looked: 'closed', line, isRefused: true };
  }
}

function list(path: BytePath, mayEnter: (device: bigint) => boolean): Look {
  const bytes = bytesOf(path);
  for (let tried = 1; ; tried++) {
    const before = lstatSync(bytes, { bigint: true });
    if (!before.isDirectory()) return { looked: 'no folder' };
    const known = { ...pathName(path), ...ownershipOf(before) };
    if (!mayEnter(before.dev)) {
      return { looked: 'closed', line: { ...known, type: 'other', why: 'other_filesystem' }, isRefused: false };
    }
    const entries = readdirSync(bytes, { encoding: 'buffer', withFileTypes: true }).map((entry) => ({
      name: toBytePath(entry.name),
      isFolder: entry.isDirectory(),
    }));
    const after = lstatSync(bytes, { bigint: true });
    const isWhole = isUnchanged(before, after);
    if (!isWhole && tried < TRIES) continue;
    const line: EndpointLine | null = isWhole ? null : { ...known, type: 'unstable', why: 'changed' };
    return { looked: 'listed', listing: { device: after.dev, entries }, line };
  }
}

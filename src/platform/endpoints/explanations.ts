import type { Reader } from '../database/database.ts';
import type { EndpointLine } from './report/line.ts';
import type { Explanation } from './requests/events.ts';
import { type Difference, isSetId, withoutUsr } from './rules.ts';

/** A file of a package in an archive that is signed. */
export interface KnownFile {
  /** Of the package. */
  name: string;
  version: string;
  archive: string;
  signed_by: string;
  /** Where the package puts it. */
  path: string;
}

/** What signed archives know. */
export interface KnownFiles {
  /** @returns by their digests those that are known, each with all of its places. */
  find(reader: Reader, sha256s: readonly string[]): Promise<ReadonlyMap<string, readonly KnownFile[]>>;
}

/** Where no archive was imported. */
export const NO_KNOWN_FILES: KnownFiles = { find: async () => new Map() };

export const UNEXPLAINED: Explanation = { kind: 'none' };

/** The digest that an archive would have to know for a difference to be explained; null where none could. */
export function digestToExplain({ expected, observed }: Difference): string | null {
  if (observed?.type !== 'file') return null;
  return expected?.type === 'file' && expected.sha256 === observed.sha256 ? null : observed.sha256;
}

/**
 * What explains a difference: a signed package that has this very file at this path. It says nothing of who owns the file
 * and with whose rights it runs, so a change of these stays unexplained.
 */
export function explainDifference(
  path: string | null,
  difference: Difference,
  known: ReadonlyMap<string, readonly KnownFile[]>,
): Explanation {
  const digest = digestToExplain(difference);
  if (digest === null || path === null || !isSamePermission(difference)) return UNEXPLAINED;
  const file = known.get(digest)?.find((each) => withoutUsr(each.path) === withoutUsr(path));
  if (file === undefined) return UNEXPLAINED;
  const { name, version, archive, signed_by } = file;
  return { kind: 'signed_package', name, version, archive, signed_by };
}

function isSamePermission({ expected, observed }: Difference): boolean {
  if (expected === null) return !isSetId(observed);
  return ownersOf(expected) === ownersOf(observed);
}

function ownersOf(line: EndpointLine | null): string {
  return line?.type === 'file' ? [line.mode, line.uid, line.gid].join() : '';
}

/** Whether an explanation makes an event less bad. */
export function isVouchedFor({ kind }: Explanation): boolean {
  return kind === 'signed_package' || kind === 'approved_change';
}

import type { RunWarning } from '../../../verifier/records/record.ts';
import type { Capabilities } from './capabilities.ts';

/** Limitations of a store compared with others, and what followed from them. */
const MESSAGES = {
  'create-only-by-versions':
    'the store ignores create-only writes (If-None-Match): every key was looked up before it was written, and the first of several versions counts',
  'create-only-ignored':
    'the store ignores create-only writes (If-None-Match) and keeps no versions: every key was looked up before it was written, but another program writing at the same time can replace an object',
  'no-versions':
    'the store keeps no versions: anyone who may write to the bucket can replace or delete archived objects',
  'no-checksums': 'the store does not attest SHA-256 checksums, so every object was downloaded again and hashed',
  'locks-unread': 'the locks of objects could not be read back: the store does not show them to this identity',
  'versions-unlisted': 'the store does not list versions, so the newest version of each object is read',
  'uploads-unlisted': 'the store does not list unfinished uploads, so parts left by an interrupted run stay there',
  'locked-later':
    'the store stored some objects without a lock, such as multipart uploads; they were locked right afterwards',
  'left-covered':
    'two exports stored different objects under the same name at the same time, and the store did not restore the first one; other programs see the second one',
} satisfies Partial<Record<RunWarning['code'], string>>;

export type Limitation = keyof typeof MESSAGES;

export function toWarning(code: Limitation): RunWarning {
  return { code, message: MESSAGES[code] };
}

export function limitationsOf({ createOnly, versions, checksums, locksShown }: Capabilities): Limitation[] {
  const limitations: Limitation[] = [];
  if (!createOnly) limitations.push(versions ? 'create-only-by-versions' : 'create-only-ignored');
  if (createOnly && !versions) limitations.push('no-versions');
  if (!checksums) limitations.push('no-checksums');
  if (!locksShown) limitations.push('locks-unread');
  return limitations;
}

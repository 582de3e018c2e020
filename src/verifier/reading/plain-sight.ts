import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../profile/description.ts';
import type { DigestReader } from '../profile/digest-text.ts';
import { valueAt } from '../profile/path.ts';

/**
 * What people and other programs find in a form under the usual names, though its contract reads elsewhere. A contract may
 * come from whoever made the form, so what it leaves out must not state something else.
 */
export interface PlainStatement {
  fact: 'package' | 'stream' | 'count' | 'head';
  /** Where it stands. */
  name: string;
  /** A digest that can be read is lower-case hex. */
  text: string;
}

/** As the default contract names them. */
const USUAL = { package: 'package_id', stream: 'stream_id', count: 'entry_count', head: 'head_hash' } as const;
const USUAL_ENTRIES = 'entries';
const USUAL_ROLES = ['sequence', 'prev_hash', 'hash'];

/** @param read where the contract reads these facts from. */
export function plainStatements(
  document: Json,
  read: Record<'package_id' | 'stream_id' | 'entry_count' | 'head_digest', string | null>,
  digests: DigestReader,
): PlainStatement[] {
  const paths = { package: read.package_id, stream: read.stream_id, count: read.entry_count, head: read.head_digest };
  return (['package', 'stream', 'count', 'head'] as const).flatMap((fact): PlainStatement[] => {
    const name = USUAL[fact];
    const sent = valueAt(document, name);
    if (name === paths[fact] || (typeof sent !== 'string' && typeof sent !== 'number')) return [];
    return [{ fact, name, text: (fact === 'head' ? digests.digest(sent) : null) ?? String(sent) }];
  });
}

/** Where else in a package lists stand whose objects look like entries: at its top, or a member below. */
export function otherEntries(document: Json, { package: form, entry }: Description): string[] {
  const own = [entry.sequence, entry.previous, entry.digest];
  const looksLikeEntry = (item: Json) =>
    [own, USUAL_ROLES].some((roles) => roles.every((role) => valueAt(item, role) !== undefined));
  return listsIn(document)
    .filter(({ path }) => path !== form.entries && path !== form.checkpoints?.items)
    .filter(({ path, items }) => items.some((item) => (path === USUAL_ENTRIES ? isObject(item) : looksLikeEntry(item))))
    .map(({ path }) => path);
}

function listsIn(document: Json): { path: string; items: Json[] }[] {
  const members = membersOf(document, '');
  const below = members.flatMap(([path, value]) => membersOf(value, `${path}.`));
  return [...members, ...below].flatMap(([path, items]) => (Array.isArray(items) ? [{ path, items }] : []));
}

function membersOf(value: Json, prefix: string): [path: string, value: Json][] {
  return isObject(value) ? Object.entries(value).map(([name, member]) => [prefix + name, member]) : [];
}

function isObject(value: Json): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

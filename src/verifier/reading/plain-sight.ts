import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../profile/description.ts';
import type { DigestReader } from '../profile/digest-text.ts';
import { valueAt } from '../profile/path.ts';

/**
 * Statements that people and other programs find in a form under the usual names, though its contract reads elsewhere.
 * A contract may come from whoever made the form, so what it leaves out must not state something else.
 */
export interface PlainStatement {
  fact: 'package' | 'stream' | 'count' | 'head';
  /** The name under which it stands. */
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

/** Lists that are named at most. */
const MAX_LISTS = 20;

/** Returns where else in a package lists stand whose objects look like entries, however deep. */
export function otherEntries(document: Json, { package: form, entry }: Description): string[] {
  const own = [entry.sequence, entry.previous, entry.digest];
  const looksLikeEntry = (item: Json) =>
    [own, USUAL_ROLES].some((roles) => roles.every((role) => valueAt(item, role) !== undefined));
  const found = new Set<string>();
  for (const { path, items } of listsIn(document, '')) {
    if (path === form.entries || path === form.checkpoints?.items || found.has(path)) continue;
    if (items.some((item) => (path === USUAL_ENTRIES ? isObject(item) : looksLikeEntry(item)))) found.add(path);
    if (found.size === MAX_LISTS) break;
  }
  return [...found];
}

/** Every list in a value, which is no deeper than what was parsed. @param path of the value; items of a list are `[]`. */
function* listsIn(value: Json, path: string): Generator<{ path: string; items: Json[] }> {
  if (Array.isArray(value)) {
    yield { path, items: value };
    for (const item of value) yield* listsIn(item, `${path}[]`);
  } else if (isObject(value))
    for (const [name, member] of Object.entries(value)) yield* listsIn(member, path === '' ? name : `${path}.${name}`);
}

function isObject(value: Json): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

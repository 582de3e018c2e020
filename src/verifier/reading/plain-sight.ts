import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../profile/description.ts';
import type { DigestReader } from '../profile/digest-text.ts';
import { valueAt } from '../profile/path.ts';

/**
 * Statement that people and other programs find in a form under a usual name, although its contract reads another
 * member. A contract may come from the author of the form, so members that it leaves out must not contradict it.
 */
export interface PlainStatement {
  fact: 'package' | 'stream' | 'count' | 'head';
  /** Name of the member. */
  name: string;
  /** Value as text; a readable digest is in lower-case hex. */
  text: string;
}

/** Names of these facts in the default contract. */
const USUAL = { package: 'package_id', stream: 'stream_id', count: 'entry_count', head: 'head_hash' } as const;
const USUAL_ENTRIES = 'entries';
const USUAL_ROLES = ['sequence', 'prev_hash', 'hash'];

/** @param read paths from which the contract reads these facts. */
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

/** Maximum number of lists that are reported. */
const MAX_LISTS = 20;

/** Returns the paths of other lists in a package, at any depth, whose objects look like entries. */
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

/**
 * Yields every list in a value, whose depth the parser has bounded. @param path of the value; items of a list are `[]`.
 */
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

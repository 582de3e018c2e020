import type { Json } from '../../core/json/canonical.ts';
import { itemsOf } from '../profile/answers.ts';
import type { List } from '../profile/list-description.ts';
import { valueAt } from '../profile/path.ts';
import type { SupplementsDescription } from '../profile/supplements.ts';
import type { RecordKind } from '../supplements/files.ts';
import { readAnswer } from '../supplements/reading.ts';
import { readInBundle } from './checked.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { MAX_ANSWER_BYTES, type SoundSupplements } from './supplements-check.ts';

/** The list that pages are of. */
export function listOf(supplements: SupplementsDescription | undefined, kind: RecordKind | 'agents'): List | null {
  if (kind === 'detections') return supplements?.traps?.detections ?? null;
  if (kind === 'events' || kind === 'scans') return supplements?.endpoints?.[kind] ?? null;
  return kind === 'verifications' ? null : (supplements?.agents?.[kind] ?? null);
}

/** Checks that a list goes on exactly as its pages say. @param pages all that the bag has of it, in their order. */
export async function checkListPages(
  { bundle, files, key }: SoundSupplements,
  list: List,
  pages: readonly string[],
): Promise<ObjectFinding[]> {
  const findings: ObjectFinding[] = [];
  for (const [at, path] of pages.entries()) {
    if (!files.has(path)) continue;
    const place = `${key}:${path}`;
    const read = async () => goesOn(list, readAnswer(await bundle.readFile(path, MAX_ANSWER_BYTES), 'a list').value);
    const onward = await readInBundle(place, read);
    findings.push(...onward.findings);
    const isLast = at === pages.length - 1;
    if (onward.value === null || onward.value === 'unknown' || onward.value === (isLast ? 'end' : 'on')) continue;
    findings.push(toObjectFinding('bundle/contradiction', place, WRONG[onward.value]));
  }
  return findings;
}

const WRONG = {
  on: 'says that its list goes on, and no page comes after it',
  end: 'ends its list, and a page comes after it',
  cut: 'does not say whether its list goes on: it is cut off',
};

/** Reports whether a page says that another one comes after it; a link in a header is not archived. */
function goesOn({ items, paging }: List, page: Json): keyof typeof WRONG | 'unknown' {
  if (paging.style === 'single') return 'end';
  if (paging.style === 'offset' || paging.style === 'page')
    return (itemsOf({ items }, page)?.length ?? 0) === 0 ? 'end' : 'on';
  if (paging.next === null) return 'unknown';
  const next = valueAt(page, paging.next);
  if (next === undefined && !paging.absent_at_end) return 'cut';
  return (next ?? '') === '' ? 'end' : 'on';
}

import { sha256 } from '../../../core/digest.ts';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import { canonicalLine, type EndpointLine, type PathName, pathBytes } from '../../../sensor/report/line.ts';
import type { Reader } from '../../database/database.ts';
import type { Difference } from '../rules.ts';
import { chunksOfSet, linesInChunks } from './line-sets.ts';

/** Difference between two sets at one path. */
export interface PathDifference extends Difference {
  path: PathName;
}

/** Compares a baseline with a scan, in the order of paths. Skips chunks that both share. */
export async function* setDifferences(
  reader: Reader,
  baselineSetNo: number | null,
  scanSetNo: number,
): AsyncGenerator<PathDifference> {
  if (baselineSetNo === scanSetNo) return;
  const before = baselineSetNo === null ? [] : await chunksOfSet(reader, baselineSetNo);
  const after = await chunksOfSet(reader, scanSetNo);
  const [known, seen] = [new Set(before), new Set(after)];
  const expected = linesInChunks(
    reader,
    before.filter((chunk) => !seen.has(chunk)),
  );
  const observed = linesInChunks(
    reader,
    after.filter((chunk) => !known.has(chunk)),
  );
  yield* merged(expected, observed);
}

/** Merges two sorted sequences of lines. */
async function* merged(
  expected: AsyncGenerator<EndpointLine>,
  observed: AsyncGenerator<EndpointLine>,
): AsyncGenerator<PathDifference> {
  const next = async (lines: AsyncGenerator<EndpointLine>) => (await lines.next()).value ?? null;
  let [left, right] = [await next(expected), await next(observed)];
  while (left !== null || right !== null) {
    const order = orderOf(left, right);
    const difference = { expected: order <= 0 ? left : null, observed: order >= 0 ? right : null };
    const one = difference.observed ?? difference.expected;
    if (one !== null && !isAlike(difference)) yield { path: nameOf(one), ...difference };
    if (order <= 0) left = await next(expected);
    if (order >= 0) right = await next(observed);
  }
}

function orderOf(left: EndpointLine | null, right: EndpointLine | null): number {
  if (left === null) return 1;
  return right === null ? -1 : pathBytes(left).compare(pathBytes(right));
}

/** Reports whether a line is unchanged. An unreadable file is unchanged even if more or less is known about it. */
function isAlike({ expected, observed }: Difference): boolean {
  if (expected === null || observed === null) return false;
  if ('why' in expected && 'why' in observed) return expected.type === observed.type && expected.why === observed.why;
  return canonicalLine(expected) === canonicalLine(observed);
}

function nameOf({ path, path_base64 }: EndpointLine): PathName {
  return path === undefined ? { path_base64: path_base64 ?? '' } : { path };
}

/** Returns the key that equal changes share on all endpoints, as hex SHA-256. */
export function changeKeyOf({ path, expected, observed }: PathDifference): string {
  return sha256(canonicalize([{ ...path }, sidesOf(expected), sidesOf(observed)] as Json));
}

/** Drops the count of bytes read before a file became unreadable, which may vary. */
function sidesOf(line: EndpointLine | null): Json {
  if (line === null) return null;
  return 'why' in line ? { type: line.type, why: line.why } : canonicalLine(line);
}

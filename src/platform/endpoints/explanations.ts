import type { EndpointLine, FileLine } from '../../sensor/report/line.ts';
import type { Reader } from '../database/database.ts';
import type { PathDifference } from './lines/comparing.ts';
import type { Attributes, ChangedFile, SignedPackage } from './packages/explanation.ts';
import type { KnownFiles } from './packages/known-files.ts';
import type { Explanation } from './wire/events.ts';

export const UNEXPLAINED: Explanation = { kind: 'none' };

/** Explains differences, in their order, by signed packages that have this very file at this path. */
export async function explainDifferences(
  reader: Reader,
  knownFiles: KnownFiles,
  differences: readonly PathDifference[],
): Promise<Explanation[]> {
  const changed = differences.map(toChangedFile);
  const asked = changed.filter((file) => file !== null);
  const found = (await knownFiles.find(reader, asked)).values();
  return changed.map((file) => toExplanation(file === null ? null : found.next().value));
}

/** Null for what no package could have: no file stands there, or its name is no text. */
function toChangedFile({ path: { path }, expected, observed }: PathDifference): ChangedFile | null {
  if (path === undefined || observed?.type !== 'file') return null;
  return { path, observed: toStanding(observed), expected: isFile(expected) ? toStanding(expected) : null };
}

function isFile(line: EndpointLine | null): line is FileLine {
  return line?.type === 'file';
}

function toStanding({ sha256, mode, uid, gid }: FileLine): Attributes & { sha256: string } {
  return { sha256, mode: Number.parseInt(mode, 8), uid, gid };
}

function toExplanation(found: SignedPackage | null | undefined): Explanation {
  if (!found) return UNEXPLAINED;
  const { name, version, archive, signed_by } = found;
  return { kind: 'signed_package', name, version, archive, signed_by };
}

/** True if an explanation lowers the severity of an event. */
export function isVouchedFor({ kind }: Explanation): boolean {
  return kind === 'signed_package' || kind === 'approved_change';
}

import type { StoredObject } from '../archive/archive.ts';
import { isKey } from '../archive/key.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import type { RunCheck } from './run.ts';

const COVERS = {
  version: 'has another version over it, so other programs see that instead',
  'delete-marker': 'has a delete marker over it, so other programs do not see it; the object itself is still there',
} as const;

const NO_OBJECT = {
  link: 'is a link, which an archive never contains: its target was not read',
  special: 'is a named pipe, a device or a socket, which an archive never contains: it was not opened',
  // The object's reader reports why it is unreadable.
  unreadable: undefined,
} as const;

/** Checks the store's listing for names, objects and versions that an archive never stores. */
export function checkListing(objects: Iterable<StoredObject>): { findings: ObjectFinding[]; warnings: string[] } {
  const findings: ObjectFinding[] = [];
  const twice: string[] = [];
  for (const { key, covered_by, irregular } of objects) {
    const what = irregular === undefined ? undefined : NO_OBJECT[irregular];
    if (what !== undefined) findings.push(toObjectFinding('object/unexpected', key, what));
    else if (!isKey(key))
      findings.push(toObjectFinding('object/unexpected', key, 'exists, but no archive uses such a name'));
    if (covered_by === 'same-content') twice.push(key);
    else if (covered_by !== undefined) findings.push(toObjectFinding('object/covered', key, COVERS[covered_by]));
  }
  const warnings = twice.map(
    (key) =>
      `${key} is stored more than once with the same content: a store that ignores create-only writes does so when two exports write at the same time.`,
  );
  return { findings, warnings };
}

/** Checks that the objects of runs are the versions recorded when they were stored. */
export function checkVersions(
  objects: ReadonlyMap<string, StoredObject>,
  checks: readonly RunCheck[],
): { findings: ObjectFinding[]; warnings: string[] } {
  const findings: ObjectFinding[] = [];
  let unseen = 0;
  const recorded = checks.flatMap(({ record }) =>
    record === null
      ? []
      : record.streams.flatMap(({ bundle, record: stored }) => (stored === null ? [bundle] : [bundle, stored])),
  );
  for (const { key, version_id: expected } of recorded) {
    const found = objects.get(key);
    if (expected === undefined || found === undefined) continue;
    if (found.version_id === undefined) unseen += 1;
    else if (found.version_id !== expected) {
      const message = 'the recorded version is gone, and another replaced it';
      findings.push(toObjectFinding('object/replaced', key, message, { expected, actual: found.version_id }));
    }
  }
  if (unseen === 0) return { findings, warnings: [] };
  const warning = `The store shows no versions to this identity: for ${unseen} objects, it is unknown whether they are the recorded ones.`;
  return { findings, warnings: [warning] };
}

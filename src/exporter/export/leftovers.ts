import { whereDefined } from '../../core/defined.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import { measure, type StoredObject } from '../../verifier/archive/archive.ts';
import {
  askedKey,
  holdLogPrefix,
  isSupplementsKey,
  runDraftKey,
  runPrefix,
  runRecordKey,
} from '../../verifier/records/keys.ts';
import type { RunRecord } from '../../verifier/records/record.ts';
import type { StoredAs } from '../../verifier/records/stored-object.ts';
import type { Archive } from '../archive/archive.ts';
import { notOurs } from './records.ts';

/** Lists all objects under a run's prefix. */
export async function listRun(archive: Archive, runId: string): Promise<Rows<StoredObject>> {
  const objects = new RowsBuilder<StoredObject>();
  for await (const object of archive.list(runPrefix(runId))) objects.push(object);
  return objects.finish();
}

/** Names of the files outside the folders of a begun run, and of a frozen run that is not finalized. */
const OF_BEGUN_RUN = 'asked.json';
const OF_FROZEN_RUN = /^(run-draft\.json|report\.(pdf|html)|index\.csv|assessment-results\.json)$/;

/**
 * Refuses to continue a run that contains objects that no interruption leaves, such as a signature over a record that
 * does not exist yet: once the run is finalized, the object would pass for part of it.
 *
 * @throws EvidenceError `conflict`.
 */
export function refuseForeign(objects: Rows<StoredObject>, runId: string, isClosed: boolean): void {
  for (const { key, irregular } of objects) {
    const name = key.slice(runPrefix(runId).length);
    const isOurs = name.includes('/')
      ? !key.startsWith(holdLogPrefix(runId))
      : name === OF_BEGUN_RUN || isSupplementsKey(key) || (isClosed && OF_FROZEN_RUN.test(name));
    if (!isOurs || irregular !== undefined) throw notOurs(key, 'such an object cannot exist before a run is finalized');
  }
}

/**
 * Refuses objects of a run that was not begun: the request is written before all other objects of a run.
 * @throws EvidenceError `conflict`.
 */
export function refuseUnasked(objects: Rows<StoredObject>): void {
  const first = objects.at(0);
  if (first !== undefined)
    throw notOurs(
      first.key,
      `it is not bound to the run: ${OF_BEGUN_RUN}, which records the options of the run, is missing`,
    );
}

/**
 * Lists the run's objects that its record does not otherwise refer to: announcements of encrypted bundles, earlier
 * attempts, and foreign objects. The record lists them so that none can be added or changed unnoticed; they do not
 * count as evidence.
 */
export async function measureLeftOver(
  archive: Archive,
  { run_id, streams, supplements }: RunRecord,
): Promise<StoredAs[]> {
  const others = [
    [askedKey(run_id), runDraftKey(run_id), runRecordKey(run_id), supplements?.object?.key],
    Iterator.from(streams).map(({ bundle }) => bundle.key),
    Iterator.from(streams).map(({ record }) => record?.key),
  ].reduce(exceptKeys, await listRun(archive, run_id));
  const leftOver: StoredAs[] = [];
  for (const { key, version_id, irregular } of others) {
    if (irregular !== undefined) throw notOurs(key, 'it is not a file of an archive');
    const content = await measure(await archive.read(key));
    leftOver.push({ key, ...content, ...whereDefined({ version_id }) });
  }
  return leftOver;
}

/**
 * Returns the objects that have none of these keys. Called once per kind of key, so that only one set of keys is in
 * memory.
 */
function exceptKeys(objects: Rows<StoredObject>, keys: Iterable<string | undefined>): Rows<StoredObject> {
  const named = new Set(keys);
  const others = new RowsBuilder<StoredObject>();
  for (const object of objects) if (!named.has(object.key)) others.push(object);
  return others.finish();
}

import type { Reader } from '../../database/database.ts';
import type { Trap } from '../repository.ts';
import { SAME_USE_MS } from '../rules.ts';
import type { TrapTables } from '../tables.ts';

/** Returns the event id of a last use that IAM reports, so that a repeated answer counts as the same use. */
export function lastUseId(credentialId: string, at: string): string {
  return `${credentialId}/${at}`;
}

/** Returns the range of times at which another channel may have reported the same use. */
function timesNear(at: string): [from: string, to: string] {
  const from = new Date(Date.parse(at) - SAME_USE_MS);
  return [from.toISOString(), new Date(Date.parse(at) + SAME_USE_MS).toISOString()];
}

/** Reports whether CloudTrail has already reported the use that IAM reports now. */
export async function isToldByCloudTrail(
  reader: Reader,
  { trap_no }: Trap,
  { at, service }: { at: string; service: string | null },
): Promise<boolean> {
  const [from, to] = timesNear(at);
  const occurrences = reader
    .tables<TrapTables>()
    .selectFrom('detection_occurrences as occurrence')
    .innerJoin('detections as detection', 'detection.detection_no', 'occurrence.detection_no')
    .select('number')
    .where('trap_no', '=', trap_no)
    .where('channel', '=', 'aws_cloudtrail');
  const near = occurrences.where('occurrence.event_time', '>=', from).where('occurrence.event_time', '<=', to);
  const same = service === null ? near : near.where('occurrence.action', 'like', `${service}:%`);
  return (await same.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Finds the occurrence of a detection that IAM reported and that is the use that CloudTrail reports now.
 * @returns the number of the occurrence; null if there is none.
 */
export async function occurrenceToldByIam(
  reader: Reader,
  { credential_id }: Trap,
  detectionNo: number,
  at: string,
): Promise<number | null> {
  const [from, to] = timesNear(at);
  const occurrences = reader.tables<TrapTables>().selectFrom('detection_occurrences').select('number');
  const near = occurrences.where('event_time', '>=', from).where('event_time', '<=', to);
  const told = near.where('detection_no', '=', detectionNo).where('source_event_id', 'like', `${credential_id}/%`);
  return (await told.orderBy('number').limit(1).executeTakeFirst())?.number ?? null;
}

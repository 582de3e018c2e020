import { valueAt } from '../profile/path.ts';
import { toTimeOrNull } from '../profile/time.ts';
import { entryTimeOf, readEntryText } from './comparing.ts';
import type { RecordKind } from './files.ts';
import { type JudgedContract, type RecordsAsked, streamFactsOf } from './judging.ts';
import { describeRecords, recordsOfPeriod } from './reading.ts';
import type { StreamStanding } from './standing.ts';

/** Record whose existence an entry states. */
interface ImpliedRecord {
  kind: RecordKind;
  id: string;
  sequence: number;
}

interface Asked {
  standing: Extract<StreamStanding, { kind: 'read' }>;
  askedAt: RecordsAsked;
  period: { from: string | null; to: string | null };
}

/**
 * Reports whether a service must have shown a record of the run's period: the entry that names it existed before the
 * service was asked, and the record's time, as the entry states it, is in the period. If the entry does not state that
 * time, the entry's own time is used, unless it is so close to an end of the period that the record may lie outside.
 */
export function isToBeThere(
  contract: JudgedContract,
  { kind, id, sequence }: ImpliedRecord,
  { standing, askedAt, period }: Asked,
): boolean {
  const description = contract.supplements && describeRecords(contract.supplements, kind);
  const bytes = standing.notes.find(sequence)?.bytes ?? null;
  const value = bytes === null ? undefined : readEntryText(bytes)?.value;
  if (description?.entry == null || value === undefined) return false;
  const recorded = entryTimeOf(contract, value);
  if (!streamFactsOf(standing, askedAt).isCertain(sequence, recorded)) return false;
  const { time, entry, id: idMember } = description;
  const timePath = time === null ? undefined : (entry.says[time] ?? entry.may_say[time]);
  const items = entry.within === null ? [value] : valueAt(value, entry.within);
  const idPath = entry.says[idMember] ?? '';
  const item = (Array.isArray(items) ? items : []).find((one) => valueAt(one, idPath) === id);
  const stated = timePath === undefined ? null : toTimeOrNull(valueAt(item, timePath), 'text');
  const isOfPeriod = recordsOfPeriod(period);
  if (stated !== null) return isOfPeriod({ time: stated });
  if (recorded === null) return period.from === null && period.to === null;
  const within = (entry.time_within_seconds ?? 0) * 1000;
  return [recorded - within, recorded + within].every((at) => isOfPeriod({ time: new Date(at).toISOString() }));
}

import { grouped, plural } from '../../../core/plurals.ts';
import type { Rows } from '../../../core/rows/rows.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { type Missing, statedEntries, sum, sumIfKnown, toMissing } from './missing.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

/** Row of the control totals. */
interface PopulationRow {
  label: string;
  streams: number;
  /** Number of entries; null if it is not stated. */
  entries: number | null;
  isAmiss: boolean;
}

/** Control totals in streams and entries, from the service's stated counts to the verified ones. */
export interface Population {
  rows: PopulationRow[];
  sentences: string[];
  missing: Missing;
}

export function toPopulation(record: RunRecord, { population: texts }: Texts): Population {
  const { streams, failed, excluded, reconciliation } = record;
  const stated = statedIn(record);
  const missing = toMissing(record);
  const inScope = reconciliation.listed - reconciliation.excluded;
  const { received, listed, verified, refuted, open, empty } = totalsOf(streams);
  const row = (label: string, count: number, entries: number | null, tone?: 'amiss'): PopulationRow => ({
    label,
    streams: count,
    entries,
    isAmiss: tone === 'amiss' && count > 0,
  });
  const some = (shown: PopulationRow) => (shown.streams === 0 ? [] : [shown]);
  return {
    rows: [
      row(texts.listed, reconciliation.listed, stated.all),
      ...some(row(texts.excluded, excluded.length, stated.excluded)),
      row(texts.in_scope, inScope, less(stated.all, stated.excluded)),
      ...some(row(texts.failed, failed.length, stated.failed, 'amiss')),
      row(texts.received, received.streams, received.entries),
      row(texts.listed_by_entry, listed.streams, listed.entries),
      row(texts.verified, verified.streams, verified.entries),
      ...some(row(texts.open, open.streams, open.entries, 'amiss')),
      ...some(row(texts.refuted, refuted.streams, refuted.entries, 'amiss')),
      ...some(row(texts.empty, empty.streams, 0)),
      row(texts.missing, missing.streams, missing.entries, 'amiss'),
      ...some(row(texts.vanished, missing.vanished, missing.vanishedEntries, 'amiss')),
      ...some(row(texts.accepted, missing.accepted, missing.acceptedEntries, 'amiss')),
    ],
    sentences: sayStated(record, stated, texts),
    missing,
  };
}

function isVerified({ status, partial }: RunStream): boolean {
  return !partial && (status === 'verified' || status === 'collected');
}

/** Totals of streams and entries by outcome. An empty stream counts as `empty`, and may also be verified. */
function totalsOf(streams: Iterable<RunStream>) {
  const total = () => ({ streams: 0, entries: 0 });
  const totals = {
    received: total(),
    listed: total(),
    verified: total(),
    refuted: total(),
    open: total(),
    empty: total(),
  };
  for (const stream of streams) {
    const add = (name: keyof typeof totals, entries: number | null) => {
      totals[name].streams++;
      totals[name].entries += entries ?? 0;
    };
    const { status, entries, service } = stream;
    add('received', entries);
    if (service.listed !== null) add('listed', service.listed);
    if (isVerified(stream)) add('verified', entries);
    if (status === 'refuted' || status === 'empty') add(status, entries);
    else if (!isVerified(stream)) add('open', entries);
  }
  return totals;
}

function entriesOf(streams: Rows<RunStream>): number {
  return sum(streams.map(({ entries }) => entries));
}

/** Counts from the service's list of streams. They cover all time, so they are null for a run over a period. */
interface Stated {
  all: number | null;
  excluded: number | null;
  failed: number | null;
}

function statedIn(record: RunRecord): Stated {
  const { streams, failed, excluded, vanished, period } = record;
  const byId = statedEntries(record);
  if (period.from !== null || period.to !== null) return { all: null, excluded: null, failed: null };
  const gone = new Set(vanished.map(({ stream_id }) => stream_id));
  const listed = streams.filter(({ stream_id }) => !gone.has(stream_id));
  const [ofStreams, ofFailed, ofExcluded] = [
    listed.map(({ service }) => service.entries),
    failed.map(({ stream_id }) => byId.get(stream_id) ?? null),
    excluded.map(({ stream_id }) => byId.get(stream_id) ?? null),
  ].map(sumIfKnown) as [number | null, number | null, number | null];
  return { all: sumIfKnown([ofStreams, ofFailed, ofExcluded]), excluded: ofExcluded, failed: ofFailed };
}

function less(all: number | null, part: number | null): number | null {
  return all === null || part === null ? null : all - part;
}

function sayStated(record: RunRecord, { all, excluded, failed }: Stated, texts: Texts['population']): string[] {
  const isAllTime = record.period.from === null && record.period.to === null;
  if (!isAllTime) return [texts.of_period];
  if (all === null || excluded === null || failed === null) return [texts.not_stated];
  const values = { received: grouped(entriesOf(record.streams)), stated: plural(all, 'entry') };
  const parts = [
    ...(failed === 0 ? [] : [fill(texts.in_failed, { entries: grouped(failed) })]),
    ...(excluded === 0 ? [] : [fill(texts.in_excluded, { entries: grouped(excluded) })]),
  ];
  return [`${fill(texts.of_stated, values)}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`];
}

/** Describes which entries are known to be missing, or states that none are. */
export function sayMissing(missing: Missing, texts: Texts['population']): string {
  const { streams, entries, vanished, vanishedEntries, accepted, acceptedEntries, failed, failedEntries } = missing;
  const told = (count: number, template: string, ofStreams: number, ofEntries: number) =>
    count === 0 ? [] : [fill(template, { streams: plural(ofStreams, 'stream'), entries: plural(ofEntries, 'entry') })];
  const known = [
    ...told(entries, texts.known_missing, streams, entries),
    ...told(
      failed,
      failedEntries === null ? texts.known_failed_unstated : texts.known_failed,
      failed,
      failedEntries ?? 0,
    ),
    ...told(vanished, texts.known_vanished, vanished, vanishedEntries),
    ...told(accepted, texts.known_accepted, accepted, acceptedEntries),
  ];
  return known.length === 0 ? texts.none_missing : `${texts.are_missing} ${known.join('; ')}.`;
}

import type { Bars } from '../../../core/html/charts.ts';
import { plural } from '../../../core/plurals.ts';
import type { Rows } from '../../../core/rows/rows.ts';
import type { Activity } from '../../../verifier/chain/activity.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

export interface Charts {
  /** Counts over time, without gaps; null if no entry has a date. */
  activity: Bars | null;
  streams: Bars | null;
  /** Entries by action; null if the service does not count actions. */
  actions: Bars | null;
  notes: string[];
}

/** Maximum number of columns. Beyond it, days are grouped into months, and months into years. */
const MAX_TIMES = 124;
const MAX_NAMES = 12;
const LENGTH = { day: 10, month: 7, year: 4 } as const;
const COARSER = { day: 'month', month: 'year', year: 'year' } as const;

export function toCharts({ streams, period, source }: RunRecord, texts: Texts): Charts {
  const counted = streams.filter((stream) => stream.entries > 0);
  const actions = toActions(counted, texts);
  return {
    activity: toActivity(counted, period, source.time_fields.recorded, texts),
    streams: toStreams(counted, texts),
    actions,
    notes: actions === null && counted.length > 0 ? [texts.charts.no_actions] : [],
  };
}

function toActivity(
  streams: Rows<RunStream>,
  period: RunRecord['period'],
  field: string | null,
  { charts }: Texts,
): Bars | null {
  const counts = new Map<string, number>();
  let per: Activity['per'] = 'day';
  for (const { activity } of streams) while (LENGTH[per] > LENGTH[activity.per]) per = COARSER[per];
  const collect = () => {
    counts.clear();
    for (const { activity } of streams)
      for (const [key, count] of Object.entries(activity.counts)) {
        const time = key.slice(0, LENGTH[per]);
        counts.set(time, (counts.get(time) ?? 0) + count);
      }
    return timesBetween([...counts.keys()], per, period);
  };
  let times = collect();
  while (times.length > MAX_TIMES && per !== 'year') {
    per = COARSER[per];
    times = collect();
  }
  if (counts.size === 0) return null;
  const undated = streams.reduce((sum, { activity }) => sum + activity.undated, 0);
  return {
    title: fill(charts.activity, { unit: per, field: field ?? 'none' }),
    bars: times.map((label) => ({ label, count: counts.get(label) ?? 0 })),
    notes: undated === 0 ? [] : [fill(charts.undated, { entries: plural(undated, 'entry') })],
  };
}

/** Lists every day, month or year from the first to the last, including the period if it has both ends. */
function timesBetween(keys: readonly string[], per: Activity['per'], { from, to }: RunRecord['period']): string[] {
  const length = LENGTH[per];
  const bounds = [...keys];
  if (from !== null && to !== null)
    bounds.push(from.slice(0, length), new Date(Date.parse(to) - 1).toISOString().slice(0, length));
  bounds.sort();
  const [first, last] = [bounds[0], bounds.at(-1)];
  if (first === undefined || last === undefined) return [];
  const times: string[] = [];
  const time = new Date(`${first.padEnd(7, '-01').padEnd(10, '-01')}T00:00:00Z`);
  for (let key = first; key <= last && times.length <= 10_000; key = time.toISOString().slice(0, length)) {
    times.push(key);
    if (per === 'day') time.setUTCDate(time.getUTCDate() + 1);
    else if (per === 'month') time.setUTCMonth(time.getUTCMonth() + 1);
    else time.setUTCFullYear(time.getUTCFullYear() + 1);
  }
  // Years that are thousands apart are drawn without those between them.
  return times.length <= MAX_TIMES || per !== 'year' ? times : [...new Set(keys)].sort();
}

function toStreams(streams: Rows<RunStream>, { charts }: Texts): Bars | null {
  if (streams.length === 0) return null;
  const bars = streams.map(({ stream_id, entries }) => ({ label: stream_id, count: entries }));
  bars.sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1));
  return { title: charts.streams, bars: topOf(bars, 'stream', 0), notes: [] };
}

function toActions(streams: Rows<RunStream>, { charts }: Texts): Bars | null {
  const counts = new Map<string, number>();
  let others = 0;
  for (const { actions } of streams) {
    for (const [action, count] of actions?.counts ?? []) counts.set(action, (counts.get(action) ?? 0) + count);
    others += actions?.others ?? 0;
  }
  if (counts.size === 0) return null;
  const bars = [...counts].map(([label, count]) => ({ label, count }));
  bars.sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1));
  const uncounted = streams.filter(({ actions }) => actions === null);
  const entries = uncounted.reduce((sum, stream) => sum + stream.entries, 0);
  const note = fill(charts.uncounted, {
    streams: plural(uncounted.length, 'stream'),
    entries: plural(entries, 'entry'),
  });
  return { title: charts.actions, bars: topOf(bars, 'action', others), notes: uncounted.length === 0 ? [] : [note] };
}

/**
 * Keeps the longest bars and groups all others into one. @param more entries whose names are not known individually.
 */
function topOf(sorted: readonly Bars['bars'][number][], thing: string, more: number): Bars['bars'] {
  const top = sorted.slice(0, MAX_NAMES);
  const rest = sorted.slice(MAX_NAMES);
  const count = rest.reduce((sum, bar) => sum + bar.count, more);
  if (count === 0) return top;
  const label = more > 0 ? `all other ${thing}s` : `${plural(rest.length, `other ${thing}`)}`;
  return [...top, { label, count, isRest: true }];
}

import type { Rows } from '../../../core/rows/rows.ts';
import { describeTime } from '../../../verifier/bundle/period.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

/** Describes which time decides if an entry belongs to the period, and the first and last entry by both times. */
export function toCutoff({ source, streams }: RunRecord, { cutoff: texts }: Texts): string[] {
  const { recorded, occurred } = source.time_fields;
  const by = recorded === null ? texts.no_time : fill(texts.recorded, { field: recorded });
  const other = occurred === null ? texts.no_occurred : fill(texts.occurred, { field: occurred });
  const first = edgeOf(streams, (stream) => stream.first_recorded_at, -1);
  const last = edgeOf(streams, (stream) => stream.last_recorded_at, 1);
  return [
    `${by} ${other}`,
    ...(first === null ? [] : [edgeIn(texts.first, first, first.first_sequence, texts, 'first')]),
    ...(last === null ? [] : [edgeIn(texts.last, last, last.head?.sequence ?? null, texts, 'last')]),
  ];
}

/** Describes both times of the first or last entry of a stream. */
export function timesAt(
  { first_recorded_at, first_occurred_at, last_recorded_at, last_occurred_at }: RunStream,
  end: 'first' | 'last',
  texts: Texts['cutoff'],
): string {
  const [recorded, occurred] =
    end === 'first' ? [first_recorded_at, first_occurred_at] : [last_recorded_at, last_occurred_at];
  return fill(texts.times, {
    recorded: recorded === null ? texts.unknown : describeTime(recorded),
    occurred: occurred === null ? texts.unknown : describeTime(occurred),
  });
}

function edgeIn(
  template: string,
  stream: RunStream,
  sequence: number | null,
  texts: Texts['cutoff'],
  end: 'first' | 'last',
): string {
  return fill(template, { entry: sequence ?? '', stream: stream.stream_id, times: timesAt(stream, end, texts) });
}

/** @param direction -1 for the earliest, 1 for the latest. */
function edgeOf(
  streams: Rows<RunStream>,
  timeOf: (stream: RunStream) => string | null,
  direction: -1 | 1,
): RunStream | null {
  let edge: RunStream | null = null;
  let best: string | null = null;
  for (const stream of streams) {
    const time = timeOf(stream);
    if (time === null || (best !== null && (time < best ? -1 : 1) !== direction)) continue;
    if (time === best) continue;
    [edge, best] = [stream, time];
  }
  return edge;
}

/** Returns the smallest and the largest text by UTF-16 code units; null if there are none. */
export function edgesOf<T>(
  rows: Iterable<T>,
  textOf: (row: T) => string | null,
): { first: string; last: string } | null {
  let edges: { first: string; last: string } | null = null;
  for (const row of rows) {
    const text = textOf(row);
    if (text === null) continue;
    if (edges === null) edges = { first: text, last: text };
    if (text < edges.first) edges.first = text;
    if (text > edges.last) edges.last = text;
  }
  return edges;
}

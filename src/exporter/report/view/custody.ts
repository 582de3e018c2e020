import { plural } from '../../../core/plurals.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import { edgesOf } from './cutoff.ts';
import { fill, nameOf } from './sentences.ts';
import type { Texts } from './texts.ts';

export interface CustodyStep {
  /** RFC 3339 time of the step; empty if it was not recorded. */
  at: string;
  /** Time as shown: a moment, a span, or a note that it was not recorded. */
  when: string;
  who: string;
  what: string;
}

/** Returns the chain of custody of the evidence in chronological order. */
export function toCustody(record: RunRecord, finalized: boolean, { custody }: Texts): CustodyStep[] {
  const { scope, tool, finished_at, acceptances, signed, timestamp_authority: authority } = record;
  const program = `${tool.name} ${tool.version}`;
  const moment = (at: string, who: string, what: string): CustodyStep => ({ at, when: at, who, what });
  const isAsked = scope.requested_by !== null || scope.request !== null;
  const request = `${custody.requested}${scope.request === null ? '' : ` (${scope.request})`}`;
  const after = (what: string): CustodyStep => ({
    at: finished_at,
    when: fill(custody.after, { time: finished_at }),
    who: program,
    what,
  });
  const steps = [
    ...acceptances.map(({ stream_id, reason, accepted_at, accepted_by }) =>
      moment(accepted_at, nameOf(accepted_by), `${custody.accepted}: ${stream_id}: ${reason}`),
    ),
    ...attemptsOf(record, custody),
    ...collectionOf(record, program, custody),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return [
    ...(isAsked
      ? [{ at: '', when: custody.not_recorded, who: scope.requested_by ?? 'not stated', what: request }]
      : []),
    ...steps,
    ...(finalized
      ? [
          moment(finished_at, program, custody.closed),
          after(custody.reported),
          ...(signed ? [after(custody.signed)] : []),
          ...(authority === null ? [] : [after(fill(custody.stamped, { authority }))]),
        ]
      : []),
  ];
}

/** Returns a step for each attempt at the run, with the number of streams that it received. */
function attemptsOf({ attempts, streams, operator }: RunRecord, custody: Texts['custody']): CustodyStep[] {
  return attempts.map(({ started_at, ended_at }, index) => {
    const received = streams.filter(({ collected }) => collected.export_started_at === started_at);
    const values = { streams: plural(received.length, 'stream') };
    const last = edgesOf(received, ({ collected }) => collected.received_at)?.last;
    const began = index === 0 ? custody.started : custody.resumed;
    const end = ended_at === null ? fill(custody.interrupted, { last: last ?? custody.unknown }) : '';
    return {
      at: started_at,
      when: ended_at === null ? fill(custody.from, { time: started_at }) : span(started_at, ended_at),
      who: nameOf(operator),
      what: `${began} ${fill(custody.received, values)}${end === '' ? '' : ` ${end}`}`,
    };
  });
}

function collectionOf(
  { streams, source, finished_at }: RunRecord,
  program: string,
  custody: Texts['custody'],
): CustodyStep[] {
  const first = edgesOf(streams, ({ collected }) => collected.requested_at)?.first;
  const last = edgesOf(streams, ({ collected }) => collected.received_at)?.last;
  if (first === undefined || last === undefined) return [];
  const bytes = streams.reduce((sum, { bundle }) => sum + bundle.bytes, 0);
  const stored = `${plural(streams.length, 'bundle')}, ${plural(bytes, 'byte')}`;
  return [
    { at: first, when: span(first, last), who: source.audit_url, what: custody.collected },
    { at: first, when: span(first, finished_at), who: program, what: `${custody.archived}: ${stored}` },
  ];
}

function span(from: string, to: string): string {
  return from === to ? from : `${from} to ${to}`;
}

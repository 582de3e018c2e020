import { grouped, plural } from '../../../core/plurals.ts';
import { firstOf, type Rows } from '../../../core/rows/rows.ts';
import { lengthOf } from '../../../verifier/claims/ranges.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { sayAnchored } from './anchors.ts';
import { timesAt } from './cutoff.ts';
import { missingIn } from './missing.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

/** Fact about a stream besides its claims. */
export type StreamFact = [label: string, text: string];

export function toStreamFacts(stream: RunStream, period: RunRecord['period'], texts: Texts): StreamFact[] {
  const { first_sequence: first, head, collected, service } = stream;
  const anchored = sayAnchored(stream, texts);
  const missing = lengthOf(missingIn(stream, period));
  const stated = [
    ...(service.entries === null ? [] : [`${grouped(service.entries)} of all time`]),
    ...(service.listed === null ? [] : [`${grouped(service.listed)} listed for this package`]),
  ];
  return [
    ...(first === null || head === null
      ? []
      : ([
          ['first entry', `${first}, ${timesAt(stream, 'first', texts.cutoff)}`],
          ['last entry', `${head.sequence}, ${timesAt(stream, 'last', texts.cutoff)}`],
        ] as StreamFact[])),
    ...(stated.length === 0 ? [] : [['service says', stated.join(', ')] as StreamFact]),
    ...(service.verified === null ? [] : [['its check', verdictOf(service)] as StreamFact]),
    ...(missing === 0 ? [] : [['missing', `at least ${grouped(missing)}`] as StreamFact]),
    ...(anchored === null ? [] : [['anchored', anchored] as StreamFact]),
    ['received', `${collected.requested_at} to ${collected.received_at}`],
  ];
}

function verdictOf({ verified, failed_sequences }: RunStream['service']): string {
  if (verified === true) return 'passed';
  return failed_sequences.length === 0 ? 'failed' : `failed at ${failed_sequences.slice(0, 10).join(', ')}`;
}

/**
 * Returns the streams for a table of at most `max` rows: all streams if they fit, otherwise the first that need
 * attention.
 */
export function listedStreams(all: Rows<RunStream>, max: number): RunStream[] {
  return all.length <= max ? [...all] : firstOf(all.filter(isAmiss), max);
}

function isAmiss({ status, partial }: RunStream): boolean {
  return partial || status === 'refuted' || status === 'incomplete';
}

/** @param count of streams that the table omits. @param max number of rows. */
export function sayLeftOut(count: number, max: number, { streams }: Texts): string {
  return fill(streams.left_out, { shown: grouped(max), streams: plural(count, 'stream') });
}

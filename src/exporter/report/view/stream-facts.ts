import { grouped, plural } from '../../../core/plurals.ts';
import { firstOf, type Rows } from '../../../core/rows/rows.ts';
import { lengthOf } from '../../../verifier/claims/ranges.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { sayAnchored } from './anchors.ts';
import { timesAt } from './cutoff.ts';
import { missingIn } from './missing.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

/** A fact about a stream besides its claims: a label and its words. */
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

/** The streams that a table of at most so many rows lists: all, or else the first in which something is amiss. */
export function listedStreams(all: Rows<RunStream>, max: number): RunStream[] {
  return all.length <= max ? [...all] : firstOf(all.filter(isAmiss), max);
}

function isAmiss({ status, partial }: RunStream): boolean {
  return partial || status === 'refuted' || status === 'incomplete';
}

/** @param count of streams that a table leaves out. @param max of rows that it may have. */
export function sayLeftOut(count: number, max: number, { streams }: Texts): string {
  return fill(streams.left_out, { shown: grouped(max), streams: plural(count, 'stream') });
}

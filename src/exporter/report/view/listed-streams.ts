import { grouped, plural } from '../../../core/plurals.ts';
import { firstOf, type Rows } from '../../../core/rows/rows.ts';
import type { RunStream } from '../../../verifier/records/record.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

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

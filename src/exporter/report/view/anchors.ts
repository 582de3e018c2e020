import { grouped, plural } from '../../../core/plurals.ts';
import { describeTime } from '../../../verifier/bundle/period.ts';
import type { RunStream } from '../../../verifier/records/record.ts';
import { fill } from './sentences.ts';
import type { Texts } from './texts.ts';

/** Entries of a stream that proved time-stamps cover. */
interface Anchored {
  /** Sequence number of the last covered entry; null if each token covers a single entry. */
  through: number | null;
  covered: number | null;
  after: number | null;
  from: string;
  to: string;
  by: readonly string[];
}

export function anchoredIn({ claims: { anchor }, entries }: RunStream): Anchored | null {
  const { state, anchored_through, entries_after_last_anchor: after, anchored_from, anchored_to } = anchor;
  if (state !== 'proved' || anchored_from === undefined || anchored_to === undefined) return null;
  const isChain = anchored_through !== undefined && after !== undefined;
  return {
    through: anchored_through ?? null,
    covered: isChain ? Math.max(0, entries - after) : null,
    after: after ?? null,
    from: anchored_from,
    to: anchored_to,
    by: anchor.authorities ?? [],
  };
}

const NAMED = 5;

/** Totals over all streams with entries. */
// Over ten members: all totals of one summary.
interface Found {
  streams: number;
  entries: number;
  anchored: number;
  covered: number;
  /** Number of streams whose tokens each cover a single entry. */
  single: number;
  by: Set<string>;
  from: string;
  to: string;
  /**
   * Number of entries after the last token, number of streams that have such entries, and descriptions of the first of
   * these streams.
   */
  after: number;
  later: number;
  named: string[];
}

/** Describes the time-stamps of entries over all streams. */
export function toAnchors(streams: Iterable<RunStream>, texts: Texts): string[] {
  const found = findAnchored(streams, texts);
  if (found.anchored === 0) return [texts.anchors.none];
  return [
    sayCovered(found, texts),
    ...sayLater(found, texts),
    ...(found.single === 0 ? [] : [fill(texts.anchors.single, { streams: plural(found.single, 'stream') })]),
  ];
}

function findAnchored(streams: Iterable<RunStream>, { anchors: texts }: Texts): Found {
  const counts = { streams: 0, entries: 0, anchored: 0, covered: 0, single: 0, after: 0, later: 0 };
  const found: Found = { ...counts, by: new Set(), from: '', to: '', named: [] };
  for (const stream of streams) {
    if (stream.entries === 0) continue;
    found.streams++;
    found.entries += stream.entries;
    const anchored = anchoredIn(stream);
    if (anchored === null) continue;
    const { covered, after, through, by, from, to } = anchored;
    found.anchored++;
    found.covered += covered ?? 0;
    if (covered === null) found.single++;
    for (const authority of by) found.by.add(authority);
    if (found.from === '' || from < found.from) found.from = from;
    if (to > found.to) found.to = to;
    if (after === null || after === 0) continue;
    found.after += after;
    if (found.later++ < NAMED)
      found.named.push(
        fill(texts.later_in, { stream: stream.stream_id, entries: grouped(after), through: through ?? '' }),
      );
  }
  return found;
}

function sayCovered({ covered, entries, anchored, streams, by, from, to }: Found, { anchors: texts }: Texts): string {
  return fill(texts.covered, {
    covered: grouped(covered),
    entries: plural(entries, 'entry'),
    streams: grouped(anchored),
    all: plural(streams, 'stream'),
    by: [...by].sort().join('; '),
    from: describeTime(from),
    to: describeTime(to),
  });
}

/** Describes the entries after the last token. */
function sayLater({ after, later, named }: Found, { anchors: texts }: Texts): string[] {
  if (later === 0) return [];
  const all = fill(texts.later, { entries: plural(after, 'entry'), streams: plural(later, 'stream') });
  return [`${all} ${named.join('; ')}${later > NAMED ? ' …' : ''}`];
}

/** Describes the time-stamps of one stream. */
export function sayAnchored(stream: RunStream, { anchors: texts }: Texts): string | null {
  const anchored = anchoredIn(stream);
  if (anchored === null) return null;
  const { through, after, from, to, by } = anchored;
  const values = { by: by.join('; '), from: describeTime(from), to: describeTime(to) };
  if (through === null || after === null) return fill(texts.of_entries, values);
  return fill(texts.of_stream, { ...values, through, after: plural(after, 'entry') });
}

import type { Rows } from '../../../core/rows/rows.ts';
import { grouped, plural } from '../../../core/words.ts';
import { describeTime } from '../../../verifier/bundle/period.ts';
import type { RunStream } from '../../../verifier/records/record.ts';
import { sum } from './missing.ts';
import type { Texts } from './texts.ts';
import { fill } from './words.ts';

/** How far the entries of a stream are time-stamped, where that is proved. */
export interface Anchored {
  /** Null where each token is for one entry alone. */
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

type Found = Anchored & { streamId: string };

/** The time-stamps of entries over all streams. */
export function toAnchors(streams: Rows<RunStream>, texts: Texts): string[] {
  const filled = streams.filter(({ entries }) => entries > 0);
  const found = filled.flatMap((stream): Found[] => {
    const anchored = anchoredIn(stream);
    return anchored === null ? [] : [{ streamId: stream.stream_id, ...anchored }];
  });
  if (found.length === 0) return [texts.anchors.none];
  const single = found.filter(({ covered }) => covered === null).length;
  return [
    sayCovered(filled, found, texts),
    ...sayLater(found, texts),
    ...(single === 0 ? [] : [fill(texts.anchors.single, { streams: plural(single, 'stream') })]),
  ];
}

function sayCovered(filled: Rows<RunStream>, found: readonly Found[], { anchors: texts }: Texts): string {
  return fill(texts.covered, {
    covered: grouped(sum(found.map(({ covered }) => covered ?? 0))),
    entries: plural(sum(filled.map(({ entries }) => entries)), 'entry'),
    streams: grouped(found.length),
    all: plural(filled.length, 'stream'),
    by: [...new Set(found.flatMap(({ by }) => by))].sort().join('; '),
    from: describeTime(found.map(({ from }) => from).sort()[0] ?? ''),
    to: describeTime(
      found
        .map(({ to }) => to)
        .sort()
        .at(-1) ?? '',
    ),
  });
}

/** Where entries came after the last token. */
function sayLater(found: readonly Found[], { anchors: texts }: Texts): string[] {
  const later = found.filter(({ after }) => (after ?? 0) > 0);
  if (later.length === 0) return [];
  const all = fill(texts.later, {
    entries: plural(sum(later.map(({ after }) => after ?? 0)), 'entry'),
    streams: plural(later.length, 'stream'),
  });
  const names = later
    .slice(0, NAMED)
    .map(({ streamId, after, through }) =>
      fill(texts.later_in, { stream: streamId, entries: grouped(after ?? 0), through: through ?? '' }),
    );
  return [`${all} ${names.join('; ')}${later.length > NAMED ? ' …' : ''}`];
}

/** Of one stream. */
export function sayAnchored(stream: RunStream, { anchors: texts }: Texts): string | null {
  const anchored = anchoredIn(stream);
  if (anchored === null) return null;
  const { through, after, from, to, by } = anchored;
  const values = { by: by.join('; '), from: describeTime(from), to: describeTime(to) };
  if (through === null || after === null) return fill(texts.of_entries, values);
  return fill(texts.of_stream, { ...values, through, after: plural(after, 'entry') });
}

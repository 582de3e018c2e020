import type { Description } from '../../verifier/profile/description.ts';
import type { Hints } from '../openapi.ts';
import type { Reasoning } from '../report.ts';
import { type ChainRoles, firstEntries, type genesisOf, genesisOfEntry } from '../roles/chain.ts';
import { placesOf } from '../roles/places.ts';
import { type Ask, scalarAt } from '../sample/sample.ts';
import { findPeriodFilter, orderOf, type PeriodFilter } from './entries-list.ts';
import type { Chain, EntriesSurvey } from './survey.ts';

/** Reports entries whose stream id or genesis value differs from those of most entries. */
export function reportStrangers(
  { streams, idInEntry }: Pick<EntriesSurvey, 'streams' | 'idInEntry'>,
  roles: ChainRoles,
  genesis: ReturnType<typeof genesisOf>,
  reasoning: Reasoning,
): void {
  const foreign = streams.flatMap(({ streamId, entries }) =>
    entries.filter(({ value }) => idInEntry !== null && scalarAt(value, idInEntry) !== streamId),
  );
  reasoning.doubts(
    'stream id',
    'the list of a stream has an entry that states another stream',
    foreign.length,
    placesOf(foreign, streams, roles.sequence),
  );
  const forged = firstEntries(streams, roles).filter(
    (entry) => genesis !== null && JSON.stringify(genesisOfEntry(entry, roles)) !== JSON.stringify(genesis),
  );
  reasoning.doubts(
    'genesis',
    'the first entry states another predecessor than most first entries',
    forged.length,
    placesOf(forged, streams, roles.sequence),
  );
}

export async function describeListing(
  ask: Ask,
  hints: Hints,
  { list, streams, filter, isLost }: Pick<EntriesSurvey, 'list' | 'streams' | 'filter'> & { isLost: boolean },
  { roles, timestamp }: Chain,
  reasoning: Reasoning,
): Promise<Description['entries']> {
  if (filter === null) {
    if (!isLost)
      reasoning.lacks(
        'entries',
        'no parameter selects the entries of one stream',
        "completeness falls back to the stream's own record",
      );
    return null;
  }
  const { parameter } = filter;
  reasoning.found('entries of a stream', parameter, 'returns the entries of that stream, and none for an unknown id');
  const [longest] = streams.toSorted(
    (a, b) => Number(b.isWhole) - Number(a.isWhole) || b.entries.length - a.entries.length,
  );
  const period =
    timestamp === null || longest === undefined
      ? { wasTried: false, from: null, to: null }
      : await findPeriodFilter(ask, list, { [parameter]: longest.streamId }, longest, timestamp, hints.entries);
  reportPeriod(period, reasoning);
  const { from: from_parameter, to: to_parameter } = period;
  const parameters = { stream_parameter: parameter, from_parameter, to_parameter, after_parameter: null };
  return { ...list, ...parameters, order: orderOf(streams, roles) };
}

function reportPeriod({ wasTried, from, to }: PeriodFilter, reasoning: Reasoning): void {
  const named = [from, to].filter((name) => name !== null);
  if (named.length > 0)
    reasoning.found(
      'entries of a period',
      named.join(', '),
      'each returns exactly the entries on its side of a moment',
    );
  if (named.length === 2) return;
  const why = wasTried
    ? 'no parameter was found for at least one end of a period'
    : 'the entries that were read all have the same time, so nothing could be tried';
  reasoning.lacks('period', why, 'the whole listing must be read for every period');
}

import { plural } from '../core/plurals.ts';
import { reportStrangers } from './lists/listing.ts';
import type { Chain, EntriesSurvey } from './lists/survey.ts';
import type { Reasoning } from './report.ts';
import {
  type ChainRoles,
  findChains,
  firstEntries,
  genesisOf,
  miscounted,
  nearestLink,
  type StreamSample,
} from './roles/chain.ts';
import { findTimestamp } from './roles/entry.ts';
import { placesOf } from './roles/places.ts';

/**
 * Finds the chain in the sample: the field that counts, the fields that link, and the genesis value of first entries.
 */
export function findChainOf({ streams, idInEntry, samples }: EntriesSurvey, reasoning: Reasoning): Chain | null {
  const [roles] = findChains(streams);
  if (roles === undefined) {
    reasoning.needs('chain', whyNoChain(streams), 'order: there is no chain to follow');
    return null;
  }
  reportLinks(streams, roles, reasoning);
  const { form } = roles;
  const prefix = form.prefix === '' ? '' : ` after "${form.prefix}"`;
  const how = `by length and alphabet of ${plural(samples.length, 'digest')}`;
  const genesis = genesisOf(streams, roles);
  reasoning.found('digest', `${form.bytes} bytes in ${form.encoding}${prefix}`, how);
  reportGenesis(streams, roles, genesis, reasoning);
  reportStrangers({ streams, idInEntry }, roles, genesis, reasoning);
  const timestamp = findTimestamp(streams, roles);
  reportTimestamp(timestamp, reasoning);
  return {
    roles,
    digest: { encoding: form.encoding, prefix: form.prefix, genesis: genesis ?? 'null' },
    timestamp,
    streamId: idInEntry,
  };
}

function whyNoChain(streams: readonly StreamSample[]): string {
  const near = nearestLink(streams);
  return near === null
    ? 'no entry field counts up by one within a stream'
    : `no entry field nearly always holds the digest of the entry before: the best one does so in ${near.holds} of ${near.of} pairs`;
}

function reportLinks(streams: readonly StreamSample[], roles: ChainRoles, reasoning: Reasoning): void {
  const { sequence, firstSequence, previous, digest, links, broken } = roles;
  reasoning.found('sequence', sequence, `counts up by one within each stream, from ${firstSequence}`);
  const jumps = streams.flatMap(({ entries }) => miscounted(entries, sequence));
  reasoning.doubts(
    'sequence',
    'the number is not one more than that of the entry before: entries are missing, duplicated or renumbered',
    jumps.length,
    placesOf(jumps, streams, sequence),
  );
  reasoning.found(
    'link',
    `${previous} → ${digest}`,
    `each entry repeats the digest of the one before it: ${links} of ${links + broken.length}`,
  );
  reasoning.refutes(
    'link',
    'does not name the digest of the entry before: one of the two was altered, or the service links them differently',
    broken.length,
    placesOf(broken, streams, sequence),
  );
}

/** @param genesis null if it is unknown. */
function reportGenesis(
  streams: readonly StreamSample[],
  roles: ChainRoles,
  genesis: ReturnType<typeof genesisOf>,
  reasoning: Reasoning,
): void {
  if (genesis !== null) {
    const what = typeof genesis === 'string' ? genesis : 'a custom text';
    reasoning.found('genesis', what, 'stated by the first entries');
    return;
  }
  const firsts = firstEntries(streams, roles);
  const why = firsts.length === 0 ? 'no first entry of a stream was seen' : 'the first entries do not show it';
  reasoning.lacks('genesis', why, 'assumed to be null: check digest.genesis before you export');
  reasoning.doubts(
    'genesis',
    'the first entry names a predecessor in a way that no other stream confirms',
    firsts.length,
    placesOf(firsts, streams, roles.sequence),
  );
}

function reportTimestamp(timestamp: ReturnType<typeof findTimestamp>, reasoning: Reasoning): void {
  if (timestamp === null) {
    const why = 'every time field goes back too often';
    reasoning.lacks('timestamp', why, 'entries cannot be compared with the period');
    return;
  }
  const { field, unit, backwards } = timestamp;
  const goesBack = backwards === 0 ? 'never goes back' : `goes back in only ${plural(backwards, 'entry')}`;
  reasoning.found('timestamp', field, `a time as ${unit} that ${goesBack} along the sequence`);
}

import type { List } from '../../verifier/profile/list-description.ts';
import type { SupplementsDescription } from '../../verifier/profile/supplements.ts';
import type { OtherService } from '../../verifier/supplements/files.ts';
import { withPageSize } from '../client/page-size.ts';
import type { SupplementClient } from '../client/supplement.ts';
import type { SupplementSource } from './source.ts';

/**
 * Asks a service for the beginning of each of its lists, and for its statistics.
 * @throws EvidenceError where an export would miss its supplement.
 */
export async function tryService(
  service: OtherService,
  client: SupplementClient,
  { supplements: description }: SupplementSource['contract'],
): Promise<void> {
  for (const list of listsOf(service, description))
    for await (const _page of client.pages(withPageSize(list, 1), {}, {}, () => {})) break;
  const statistics = description[service]?.statistics ?? null;
  if (statistics !== null) await client.document(statistics);
}

/** Those of all that it shows: the actions of an agent are asked for when the agent is known. */
function listsOf(service: OtherService, { traps, endpoints, agents }: SupplementsDescription): List[] {
  const lists = {
    traps: [traps?.detections],
    endpoints: [endpoints?.events, endpoints?.scans],
    agents: [agents?.agents],
  }[service];
  return lists.filter((list) => list != null);
}

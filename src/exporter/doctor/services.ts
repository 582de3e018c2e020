import { EvidenceError, isEvidenceError, sayNextStep } from '../../core/errors.ts';
import { plural } from '../../core/plurals.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import type { SupplementsDescription } from '../../verifier/profile/supplements.ts';
import type { OtherService } from '../../verifier/supplements/files.ts';
import { attempt, type Check, compareClocks, doubtful, ok, skipped } from '../check.ts';
import type { AuditClient } from '../client/audit.ts';
import type { ListedStreamAnswer } from '../client/audit-answers.ts';
import { withPageSize } from '../client/page-size.ts';
import type { SupplementClient } from '../client/supplement.ts';
import { selectStreams } from '../export/plan.ts';
import { othersOf, type SupplementSource, toMissingSupplement } from '../supplements/source.ts';

/** Fields of a stream that other checks use. */
export type SeenStream = Pick<ListedStreamAnswer, 'streamId' | 'entryCount' | 'headSequence'>;

const MAY_CHECK =
  'Exports work without it. Give this API key permission to have streams checked, or leave the operation "verify" out of the contract.';

/**
 * Checks that the audit service accepts this key, that its streams match the contract, that the key may request
 * packages, and that the clocks agree.
 * @param needsListing an export without the list of entries would be incomplete.
 * @param listed receives each stream.
 */
export async function checkService(
  { client, origin }: { client: AuditClient; origin: string },
  needsListing: boolean,
  listed: SeenStream[],
): Promise<Check[]> {
  let date: string | null = null;
  const reached = await attempt('service', async () => {
    date = (await client.firstPage()).date;
    const { included } = await selectStreams(client.listStreams(), { streams: [], exclude: [] });
    for (const stream of included) listed.push(stream);
    const drifted = included.find(({ drift }) => drift !== null);
    if (drifted !== undefined) {
      const message = `the stream "${drifted.streamId}" could not be exported: ${drifted.drift}`;
      throw new EvidenceError('service', message, client.driftAdvice);
    }
    const unchecked = await client.tryRights(listed[0]?.streamId ?? null, needsListing);
    const what = plural(listed.length, 'stream');
    const says = `${origin} accepts this key for exports and lists ${what}, as in its contract`;
    if (unchecked === null) return ok('service', says);
    return doubtful('service', `${says}; its own check is not recorded: ${unchecked.message}`, MAY_CHECK);
  });
  if (reached.state === 'failed') return [reached, skipped('service-clock', 'the service did not answer')];
  return [reached, compareClocks('service-clock', 'the service', date, new Date())];
}

/** Checks that each service that provides supplements accepts this key and answers as the contract describes. */
export async function checkSupplements(source: SupplementSource): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [service, client] of othersOf(source))
    try {
      await tryService(service, client, source.contract);
      checks.push(ok(service, `${client.url} accepts this key, as in its contract`));
    } catch (error) {
      checks.push(toCheck(service, error));
    }
  return checks;
}

/** Converts the error to a failed check. An export would continue without the supplement and end incomplete. */
function toCheck(service: OtherService, error: unknown): Check {
  if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
  const { reason, next_step } = toMissingSupplement(service, error);
  const next = sayNextStep(next_step, 'run evidence doctor again');
  return { name: service, state: 'failed', code: 'service', says: reason, next_step: next };
}

/**
 * Requests the first page of each of the service's lists, and its statistics.
 * @throws EvidenceError if an export would lack this supplement.
 */
async function tryService(
  service: OtherService,
  client: SupplementClient,
  { supplements: description }: SupplementSource['contract'],
): Promise<void> {
  for (const list of listsOf(service, description))
    for await (const _page of client.pages(withPageSize(list, 1), {}, {}, () => {})) break;
  const statistics = description[service]?.statistics ?? null;
  if (statistics !== null) await client.document(statistics);
}

/** Lists that can be requested without an id. An agent's actions need the id of the agent, so they are not included. */
function listsOf(service: OtherService, { traps, endpoints, agents }: SupplementsDescription): List[] {
  const lists = {
    traps: [traps?.detections],
    endpoints: [endpoints?.events, endpoints?.scans],
    agents: [agents?.agents],
  }[service];
  return lists.filter((list) => list != null);
}

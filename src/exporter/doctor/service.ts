import { EvidenceError } from '../../core/errors.ts';
import { plural } from '../../core/plurals.ts';
import { attempt, type Check, compareClocks, doubtful, ok, skipped } from '../check.ts';
import type { AuditClient } from '../client/audit.ts';
import type { ListedStreamAnswer } from '../client/audit-answers.ts';
import { selectStreams } from '../export/plan.ts';

/** A stream as far as other checks need it. */
export type SeenStream = Pick<ListedStreamAnswer, 'streamId' | 'entryCount' | 'headSequence'>;

const MAY_CHECK =
  'An export does without. Give this API key the right to have streams checked, or leave the operation "verify" out of the contract.';

/**
 * Checks that the audit service answers this key with streams as its contract describes them, that the key may have
 * packages made, and that the clocks agree.
 * @param needsListing an export is incomplete without the list of entries.
 * @param listed is given each stream.
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
    const says = `${origin} answers this key, which may export; it lists ${what}, as its contract says`;
    if (unchecked === null) return ok('service', says);
    return doubtful('service', `${says}; its own check is not recorded: ${unchecked.message}`, MAY_CHECK);
  });
  if (reached.state === 'failed') return [reached, skipped('service-clock', 'the service did not answer')];
  return [reached, compareClocks('service-clock', 'the service', date, new Date())];
}

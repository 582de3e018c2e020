import { EvidenceError } from '../../core/errors.ts';
import { attempt, type Check, compareClocks, ok, skipped } from '../check.ts';
import type { AuditClient } from '../client/audit.ts';
import { SERVICE_CHANGED } from '../client/drift.ts';

/**
 * Checks that the audit service answers this key with streams as its contract describes them, that the key may have
 * packages made, and that the clocks agree.
 * @param counts is given what the service states of the entries of each stream.
 */
export async function checkService(client: AuditClient, origin: string, counts: (number | null)[]): Promise<Check[]> {
  let date: string | null = null;
  const reached = await attempt('service', async () => {
    date = (await client.firstPage()).date;
    let first: string | null = null;
    for await (const { streamId, entryCount, drift } of client.listStreams()) {
      if (drift !== null)
        throw new EvidenceError('service', `the stream "${streamId}" could not be exported: ${drift}`, SERVICE_CHANGED);
      first ??= streamId;
      counts.push(entryCount);
    }
    await client.tryRights(first);
    const what = counts.length === 1 ? '1 stream' : `${counts.length} streams`;
    return ok('service', `${origin} answers this key, which may export; it lists ${what}, as its contract says`);
  });
  if (reached.state !== 'ok') return [reached, skipped('service-clock', 'the service did not answer')];
  return [reached, compareClocks('service-clock', 'the service', date, new Date())];
}

import type { AuditClient } from '../client/audit.ts';
import { attempt, type Check, compareClocks, ok, skipped } from './check.ts';

/** Whether the audit service answers this key, and what time it is there. */
export async function checkService(client: AuditClient, origin: string): Promise<Check[]> {
  let date: string | null = null;
  const reached = await attempt('service', async () => {
    const page = await client.firstPage();
    date = page.date;
    const what = page.items.length === 0 ? 'it lists no stream' : 'it lists streams';
    return ok('service', `${origin} answers this key: ${what}`);
  });
  if (reached.state !== 'ok') return [reached, skipped('service-clock', 'the service did not answer')];
  return [reached, compareClocks('service-clock', 'the service', date, new Date())];
}

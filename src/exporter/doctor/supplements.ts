import { attempt, type Check, ok } from '../check.ts';
import type { SupplementSource } from '../supplements/source.ts';
import { tryService } from '../supplements/try.ts';

/** Whether each service that supplements are collected from answers this key, as the contract describes it. */
export async function checkSupplements(source: SupplementSource): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [service, client] of source.clients)
    if (service !== 'audit')
      checks.push(
        await attempt(service, async () => {
          await tryService(service, source);
          return ok(service, `${client.url} answers this key, as its contract says`);
        }),
      );
  return checks;
}

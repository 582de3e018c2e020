import { insteadOfSameCommand, isEvidenceError } from '../../core/errors.ts';
import type { OtherService } from '../../verifier/supplements/files.ts';
import { type Check, ok } from '../check.ts';
import { toMissingSupplement } from '../supplements/missing.ts';
import { othersOf, type SupplementSource } from '../supplements/source.ts';
import { tryService } from '../supplements/try.ts';

/** Checks that each service that supplements are collected from answers this key, as the contract describes it. */
export async function checkSupplements(source: SupplementSource): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [service, client] of othersOf(source))
    try {
      await tryService(service, client, source.contract);
      checks.push(ok(service, `${client.url} answers this key, as its contract says`));
    } catch (error) {
      checks.push(toCheck(service, error));
    }
  return checks;
}

/** An export goes on without it, and ends incomplete. */
function toCheck(service: OtherService, error: unknown): Check {
  if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
  const { reason, next_step } = toMissingSupplement(service, error);
  const next = insteadOfSameCommand(next_step, 'run evidence doctor again');
  return { name: service, state: 'failed', code: 'service', says: reason, next_step: next };
}

import { type EvidenceError, type NextStep, RESUME } from '../../core/errors.ts';
import { type Failure, toFailure } from '../../verifier/model/failure.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { SupplementsDescription } from '../../verifier/profile/supplements.ts';
import { OTHER_SERVICES, type OtherService, type SupplementService } from '../../verifier/supplements/files.ts';
import { LimitError } from '../client/answer.ts';
import type { SupplementClient } from '../client/supplement.ts';

/** Services that supplements are collected from. */
export interface SupplementSource {
  /** Clients of the configured services and of the audit service. */
  clients: ReadonlyMap<SupplementService, SupplementClient>;
  contract: Description & { supplements: SupplementsDescription };
  /** Limits over all answers of one service. */
  limits: { answers: number; bytes: number };
}

/** Returns the configured services other than the audit service. */
export function othersOf({ clients }: SupplementSource): [OtherService, SupplementClient][] {
  return OTHER_SERVICES.flatMap((service) => {
    const client = clients.get(service);
    return client === undefined ? [] : [[service, client] as [OtherService, SupplementClient]];
  });
}

/** Reason that a service has no supplement, with the next step. */
export interface MissingSupplement extends Failure {
  service: SupplementService;
  next_step: NextStep;
}

/** Returns the next step for a failure. For invalid answers, only the operator of the service can help. */
function remedyOf(service: SupplementService, { code }: EvidenceError): string {
  const key = `source.${service}_url`;
  if (code === 'refused') return `Give the API key permission to read the service of ${service}, or use another key`;
  if (code === 'unreachable') return `Check that ${key} is reachable`;
  if (code === 'not-found') return `Check that ${key} is the address of the service of ${service}`;
  return `Check ${key}, or ask the operator of the service`;
}

export function toMissingSupplement(service: SupplementService, error: EvidenceError): MissingSupplement {
  const before = error instanceof LimitError ? `${error.nextStep} Then` : `${remedyOf(service, error)}; then`;
  return { service, ...toFailure(error), next_step: { ...RESUME, before } };
}

import type { ErrorCode, EvidenceError } from '../../core/errors.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { SupplementsDescription } from '../../verifier/profile/supplements.ts';
import { OTHER_SERVICES, type OtherService, type SupplementService } from '../../verifier/supplements/files.ts';
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
export interface MissingSupplement {
  service: SupplementService;
  reason: string;
  next_step: string;
}

const AGAIN = 'then run the same command again to resume';

/** Returns the next step for a failure. For invalid answers, only the operator of the service can help. */
function nextStepOf(service: SupplementService, code: ErrorCode): string {
  const key = `source.${service}_url`;
  if (code === 'refused')
    return `Give the API key the right to read what the service of ${service} shows, or use another key; ${AGAIN}.`;
  if (code === 'unreachable') return `See that ${key} can be reached; ${AGAIN}.`;
  if (code === 'not-found') return `Check that ${key} is the address of the service of ${service}; ${AGAIN}.`;
  return `Check ${key}, or ask the operator of the service; ${AGAIN}.`;
}

export function toMissingSupplement(
  service: SupplementService,
  { code, message, nextStep }: EvidenceError,
): MissingSupplement {
  const isLimit = nextStep?.includes('source.limits') === true;
  const next_step = isLimit ? `${nextStep} Then run the same command again to resume.` : nextStepOf(service, code);
  return { service, reason: message, next_step };
}

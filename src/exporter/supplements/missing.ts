import type { ErrorCode, EvidenceError } from '../../core/errors.ts';
import type { SupplementService } from '../../verifier/supplements/files.ts';

/** The reason that a service has no supplement, and what helps. */
export interface MissingSupplement {
  service: SupplementService;
  reason: string;
  next_step: string;
}

const AGAIN = 'then run the same command again to resume';

/** Returns what helps by what went wrong; only its operator can tell the service about its own answers. */
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

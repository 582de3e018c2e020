import { EvidenceError, messageOf } from '../errors.ts';
import type { Call } from './call.ts';

const NEVER_ARRIVED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
const NEXT_STEP =
  'Check that the service runs and can be reached from here, then run the same command again to resume.';
const TRUST_STEP =
  'If this is the service, set source.tls.ca_file to the PEM file of the authority that signed its certificate.';

/** Whether the connection was never made, so that the service cannot have seen the request. */
export function neverArrived(error: unknown): boolean {
  return codesOf(error).some((code) => NEVER_ARRIVED.has(code)) || isUntrusted(error);
}

/** Whether the service's certificate was not believed, which no repetition changes. */
export function isUntrusted(error: unknown): boolean {
  return codesOf(error).some((code) => /CERT|_TLS_CERT_/.test(code) && !/ALERT/.test(code));
}

/** A request without an answer, or with one that did not arrive as it should. */
export function toConnectionError(call: Call, error: unknown): EvidenceError {
  return new EvidenceError('unreachable', `${call.method} ${call.url} failed: ${reasonOf(error)}`, {
    cause: error,
    nextStep: isUntrusted(error) ? TRUST_STEP : NEXT_STEP,
  });
}

/** What happened, with the codes by which it can be looked up. */
export function reasonOf(error: unknown): string {
  const codes = codesOf(error).join(', ');
  const message = messageOf(error);
  if (message === '' || codes === '') return message + codes;
  return message.includes(codes) ? message : `${message} (${codes})`;
}

function codesOf(error: unknown): string[] {
  const errors = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map((one) => (one as NodeJS.ErrnoException).code).filter((code) => typeof code === 'string');
  return [...new Set(codes)];
}

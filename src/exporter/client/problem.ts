import { EvidenceError } from '../../core/errors.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { Scrub } from '../../core/secret.ts';
import type { Answer } from './answer.ts';
import { readJsonBody } from './page-reader.ts';

/** Parts of an unexpected answer that a message needs. */
interface Refusal {
  method: string;
  url: string;
  status: number;
  contentType: string;
  body: Uint8Array;
  /** Removes the key, which the service may quote. */
  scrub: Scrub;
}

/** @param body beginning of the answer's body. */
export function describeRefusal(answer: Answer, body: Uint8Array, scrub: Scrub): Refusal {
  const { call, status, contentType } = answer;
  return { method: call.method, url: call.url, status, contentType, body, scrub };
}

/** Returns the error for an unsuccessful answer, with the service's explanation. */
export function toServiceError(refusal: Refusal): EvidenceError {
  const { method, url, status, scrub } = refusal;
  const said = cutText(scrub(describeProblem(refusal)), MAX_WORDS);
  const what = `${method} ${url} answered ${status}${said === '' ? '' : `: ${said}`}`;
  if (status === 401 || status === 403)
    return new EvidenceError('refused', what, {
      nextStep:
        status === 401
          ? 'Check the API key (EVIDENCE_API_KEY or source.api_key_file): the service rejected it.'
          : 'Give this API key the right to read streams and to generate evidence packages, or use another key.',
    });
  if (status === 404 || status === 410) return new EvidenceError('not-found', what);
  return new EvidenceError('service', what, { nextStep: { after: '; if the error persists, ask the operator' } });
}

/** Returns the error for a successful answer that is not of the requested form. */
export function toUnexpectedAnswer(refusal: Refusal, why: string): EvidenceError {
  const { method, url, status, contentType, scrub } = refusal;
  const type = contentType === '' ? 'without a content type' : `with ${scrub(contentType)}`;
  return new EvidenceError(
    'service',
    `${method} ${url} answered ${status} ${type}, but ${why}: ${firstBytes(refusal)}`,
    {
      nextStep: 'Check that source.audit_url is the address of the audit service itself.',
    },
  );
}

const MAX_WORDS = 500;
const MAX_FIRST_BYTES = 200;

/**
 * Extracts the explanation: RFC 9457 problem details; FastAPI's `detail` as text or list; `{"error": …}`; plain text.
 */
function describeProblem(refusal: Refusal): string {
  const { contentType, body } = refusal;
  if (!/json/i.test(contentType)) return /^text\/plain/i.test(contentType) ? firstBytes(refusal) : '';
  const read = readJsonBody(body);
  if ('why' in read) return firstBytes(refusal);
  const { value } = read;
  if (typeof value !== 'object' || value === null) return firstBytes(refusal);
  const { title, detail, code, error } = value as Record<string, unknown>;
  const parts = [code, title, Array.isArray(detail) ? detail.map(describeItem).join('; ') : detail, error];
  return parts
    .filter((part) => part !== undefined && part !== null && part !== '')
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .join(' · ');
}

function describeItem(item: unknown): string {
  const { loc, msg } = (item ?? {}) as { loc?: unknown; msg?: unknown };
  if (typeof msg !== 'string') return JSON.stringify(item);
  return Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg;
}

/** Quotes the first bytes. The key is removed before the text is cut, because otherwise a part of it could remain. */
function firstBytes({ body, scrub }: Refusal): string {
  const clean = Buffer.from(scrub(Buffer.from(body).toString('latin1')), 'latin1');
  const text = new TextDecoder().decode(clean.subarray(0, MAX_FIRST_BYTES)).replace(/\s+/g, ' ').trim();
  return text === '' ? 'an empty body' : JSON.stringify(text);
}

/** Next steps for a service that does not behave as expected. */
export const SERVICE_CHANGED = {
  nextStep: 'The service changed since its contract was written: run `evidence probe` again and compare the two files.',
};
export const OTHER_SERVICE = {
  nextStep: 'This service does not follow the default contract: run `evidence probe` to detect its contract.',
};
/** Next step if other streams of the service fit the default contract. */
export const ODD_STREAM = {
  nextStep:
    'Ask the operator of the service about this stream; other streams fit the contract. Earlier archived bundles are kept.',
};
/** Next step if the list of streams, the first resource requested, is not found. */
export const NO_SERVICE_THERE = {
  nextStep:
    'Check the address of the audit service (source.audit_url): its path is probably missing or wrong, and may end with /audit, as in http://127.0.0.1:8181/audit.',
};

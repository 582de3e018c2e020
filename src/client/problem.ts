import { EvidenceError } from '../errors.ts';

export interface Refusal {
  method: string;
  url: string;
  status: number;
  contentType: string;
  body: Uint8Array;
}

/** An answer that is not a success, as an error that says what the service said. */
export function toServiceError(refusal: Refusal): EvidenceError {
  const { method, url, status } = refusal;
  const said = describeProblem(refusal);
  const what = `${method} ${url} answered ${status}${said === '' ? '' : `: ${said}`}`;
  if (status === 401 || status === 403)
    return new EvidenceError('refused', what, {
      nextStep:
        status === 401
          ? 'Check the API key (EVIDENCE_API_KEY or source.api_key_file): the service does not know it.'
          : 'Give this API key the right to read streams and to generate evidence packages, or use another key.',
    });
  if (status === 404 || status === 410) return new EvidenceError('not-found', what);
  return new EvidenceError('service', what, { nextStep: 'Run the same command again; if it stays, ask the operator.' });
}

/** An answer that is a success but not what was asked for. */
export function toUnexpectedAnswer(refusal: Refusal, why: string): EvidenceError {
  const { method, url, status, contentType, body } = refusal;
  const type = contentType === '' ? 'without a content type' : `with ${contentType}`;
  return new EvidenceError('service', `${method} ${url} answered ${status} ${type}, but ${why}: ${firstBytes(body)}`, {
    nextStep: 'Check that source.audit_url is the address of the audit service itself.',
  });
}

/** RFC 9457 problem details; FastAPI's `detail` as text or as a list; `{"error": …}`; plain text. */
function describeProblem({ contentType, body }: Refusal): string {
  if (!/json/i.test(contentType)) return /^text\/plain/i.test(contentType) ? firstBytes(body) : '';
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return firstBytes(body);
  }
  if (typeof value !== 'object' || value === null) return firstBytes(body);
  const { title, detail, code, error } = value as Record<string, unknown>;
  const parts = [code, title, Array.isArray(detail) ? detail.map(describeItem).join('; ') : detail, error];
  return parts
    .filter((part) => part !== undefined && part !== null && part !== '')
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .join(' · ')
    .slice(0, 500);
}

function describeItem(item: unknown): string {
  const { loc, msg } = (item ?? {}) as { loc?: unknown; msg?: unknown };
  if (typeof msg !== 'string') return JSON.stringify(item);
  return Array.isArray(loc) ? `${loc.join('.')}: ${msg}` : msg;
}

function firstBytes(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 200)).replace(/\s+/g, ' ').trim();
  return text === '' ? 'an empty body' : JSON.stringify(text);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { isRetriedStatus, readRetryAfter } from '../../core/retry.ts';
import { contentDigest, importedSchema } from './import-key.ts';

/** Event for the audit service: the body of `POST /entries/` with the event's own id as its key. */
export interface ImportedEntry {
  stream_id: string;
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  metadata?: { [name: string]: Json };
  /** RFC 3339 time; omitted if the source has none. */
  occurred_at?: string;
  /** Id of the event, which is also recorded in the metadata as `import_key`. */
  idempotency_key: string;
}

/** Maximum length of the text fields with their own column, which have at least 1 character. */
const MAX_FIELD = 1024;

/** Maximum length of a stream id in UTF-8. */
const MAX_STREAM_ID_BYTES = 2048;

/**
 * Returns `text` in the form that the service accepts: not empty (`-`), well-formed Unicode without U+0000, truncated
 * with an ellipsis at 1024 UTF-16 code units. Callers keep longer texts in the metadata.
 */
export function toField(text: string): string {
  const wellFormed = text.toWellFormed().replaceAll('\0', '\uFFFD');
  if (wellFormed === '') return '-';
  if (wellFormed.length <= MAX_FIELD) return wellFormed;
  // The cut may separate the halves of a surrogate pair.
  return `${wellFormed.slice(0, MAX_FIELD - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns `text` as a stream id, which is truncated earlier if its characters take more bytes. */
export function toStreamId(text: string): string {
  const bytes = Buffer.from(toField(text));
  if (bytes.length <= MAX_STREAM_ID_BYTES) return bytes.toString();
  const cut = bytes.subarray(0, MAX_STREAM_ID_BYTES - Buffer.byteLength('…')).toString();
  return `${cut.replace(/\uFFFD+$/, '')}…`;
}

/** Maximum numbers of entries and bytes in one `POST /entries/batch`. */
export const MAX_BATCH_ENTRIES = 1000;
export const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/** Maximum size of the answer, which repeats every entry with its digests. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 60_000;
const ATTEMPTS = 4;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10 * 60_000;

const answerSchema = z.looseObject({ created: z.int().min(0), repeated: z.int().min(0) });
const pageSchema = z.looseObject({
  data: z.array(importedSchema),
  next_cursor: z.string().min(1).nullable(),
});
const problemSchema = z.looseObject({ code: z.string().optional(), detail: z.string().optional() });

export type BatchOutcome =
  | { outcome: 'recorded'; created: number; repeated: number }
  /** A key is already known with another body; nothing of the batch was recorded. */
  | { outcome: 'conflict' }
  /** The service does not accept an entry; nothing of the batch was recorded. */
  | { outcome: 'refused'; reason: string };

/** Audit service, for an import. */
export interface EntryReceiver {
  /** Returns the digests of the imported entries that a stream has, by the ids of their events. */
  imported(streamId: string): Promise<Map<string, string>>;
  /** Records a batch of entries, given as JSON texts, all or none. */
  record(entries: readonly string[]): Promise<BatchOutcome>;
  close(): Promise<void>;
}

const REFUSALS = [
  [409, 'stream_resembles'],
  [413, 'too_large'],
  [422, 'invalid_request'],
] as const;

interface Answer {
  status: number;
  retryAfter: string | null;
  body: string;
}

/**
 * @param url base of the audit service, e.g. `http://127.0.0.1:8181/audit`.
 * @throws EvidenceError `config` if the URL or the key is invalid.
 */
export function connectAuditService(url: string, apiKey: string): EntryReceiver {
  const base = serviceUrl(url);
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new EvidenceError('config', 'the API key in EVIDENCE_API_KEY is empty or contains invalid characters', {
      nextStep: 'Set EVIDENCE_API_KEY to the key that `evidence-platform init` printed.',
    });
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  const caller = { apiKey, agent };
  return {
    imported: (streamId) => readImported(base, caller, streamId),
    record: (entries) => postBatch(`${base}/entries/batch`, caller, entries),
    close: () => agent.close(),
  };
}

/** Returns the URL without a slash at its end. */
function serviceUrl(url: string): string {
  const base = URL.parse(url);
  if (base === null || !/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '')
    throw new EvidenceError('config', 'the URL of the audit service must be an http or https URL without a user', {
      nextStep: 'Use --url http://127.0.0.1:8181/audit, with the key in EVIDENCE_API_KEY.',
    });
  return `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
}

interface ServiceCaller {
  apiKey: string;
  agent: Dispatcher;
}

async function readImported(base: string, caller: ServiceCaller, streamId: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const endpoint = `${base}/entries/`;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ stream_id: streamId, limit: '500', ...(cursor === '' ? {} : { cursor }) });
    const answer = await callUntilAnswered(`${endpoint}?${query}`, caller, null);
    refuseKey(endpoint, answer);
    const page = answer.status === 200 ? pageSchema.safeParse(parseJson(answer.body)).data : undefined;
    if (page === undefined)
      throw new EvidenceError('service', `${endpoint} answered ${answer.status} to a request for a list of entries`, {
        nextStep: CHECK_URL,
      });
    for (const entry of page.data) {
      const importKey = entry.metadata?.['import_key'];
      if (typeof importKey === 'string') found.set(importKey, contentDigest(entry));
    }
    cursor = page.next_cursor;
  }
  return found;
}

async function postBatch(endpoint: string, caller: ServiceCaller, entries: readonly string[]): Promise<BatchOutcome> {
  // Repeating a request is safe, because every entry has an idempotency key.
  const answer = await callUntilAnswered(endpoint, caller, `{"entries":[${entries.join(',')}]}`);
  return toOutcome(endpoint, answer, entries.length);
}

/** @param body null for GET. */
async function callUntilAnswered(endpoint: string, caller: ServiceCaller, body: string | null): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await call(endpoint, caller, body).catch((cause: unknown) => unreachable(endpoint, cause));
    if (answer instanceof EvidenceError) {
      if (attempt === ATTEMPTS) throw answer;
    } else if (attempt === ATTEMPTS || !isRetriedStatus(answer.status)) {
      return answer;
    }
    await sleep(delayBefore(attempt, answer instanceof EvidenceError ? null : answer.retryAfter));
  }
}

async function call(endpoint: string, { apiKey, agent }: ServiceCaller, body: string | null): Promise<Answer> {
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json' };
  const sent = body === null ? { headers } : { headers: { ...headers, 'content-type': 'application/json' }, body };
  const response = await request(endpoint, { method: body === null ? 'GET' : 'POST', dispatcher: agent, ...sent });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new EvidenceError('service', `${endpoint} answered with more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const retryAfter = response.headers['retry-after'];
  return {
    status: response.statusCode,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

function delayBefore(attempt: number, retryAfter: string | null): number {
  const asked = readRetryAfter(retryAfter);
  return asked === null ? Math.random() * FIRST_DELAY_MS * 2 ** attempt : Math.min(asked, LONGEST_DELAY_MS);
}

function unreachable(endpoint: string, cause: unknown): EvidenceError {
  if (cause instanceof EvidenceError) throw cause;
  return new EvidenceError('unreachable', `${endpoint} cannot be reached: ${messageOf(cause)}`, {
    nextStep: 'Start the service with `evidence-platform serve --data DIR`, then run the same import again.',
    cause,
  });
}

function toOutcome(endpoint: string, answer: Answer, sent: number): BatchOutcome {
  const { status } = answer;
  const json = parseJson(answer.body);
  refuseKey(endpoint, answer);
  const problem = problemSchema.safeParse(json).data;
  if (status === 422 && problem?.code === 'idempotency_conflict') return { outcome: 'conflict' };
  if (REFUSALS.some(([each, code]) => each === status && code === problem?.code))
    return { outcome: 'refused', reason: problem?.detail ?? `status ${status}` };
  const recorded = answerSchema.safeParse(json).data;
  if (status === 201 && recorded !== undefined && recorded.created + recorded.repeated === sent)
    return { outcome: 'recorded', created: recorded.created, repeated: recorded.repeated };
  const said = [problem?.code, problem?.detail].filter((part) => part !== undefined).join(': ');
  throw new EvidenceError('service', `${endpoint} answered ${status} to ${sent} entries${said && ` (${said})`}`, {
    nextStep: CHECK_URL,
  });
}

const CHECK_URL = 'Check that --url is the audit service, such as http://127.0.0.1:8181/audit.';

/** @throws EvidenceError `refused` if the service refused the API key. */
function refuseKey(endpoint: string, { status }: Answer): void {
  if (status === 401 || status === 403)
    throw new EvidenceError('refused', `${endpoint} refused the API key with status ${status}`, {
      nextStep:
        'Set EVIDENCE_API_KEY to a key of this service with the scopes audit:read and audit:write, then run the same import again.',
    });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

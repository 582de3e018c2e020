import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const MAX_ENTRIES = 1000;
const MAX_BYTES = 8 * 1024 * 1024;
const REQUIRED = ['stream_id', 'actor', 'action', 'resource_type', 'resource_id', 'idempotency_key'] as const;
const KNOWN = new Set<string>([...REQUIRED, 'metadata', 'occurred_at']);

export type RecordedEntry = Record<(typeof REQUIRED)[number], string> & {
  metadata: Record<string, unknown>;
  occurred_at?: string;
};

export interface EntryService {
  url: string;
  apiKey: string;
  /** Recorded entries, in order. */
  recorded: RecordedEntry[];
  /** Number of entries in each request answered with 201. */
  batches: number[];
  /** Answers to use instead, once each, in order. */
  faults: { status: number; headers?: Record<string, string>; body?: string }[];
  requests(): number;
  /** Forgets all idempotency keys, as a service does after some time. */
  forgetKeys(): void;
  close(): Promise<void>;
}

/**
 * Starts `POST /audit/entries/batch`, as strict as its contract: limits, required fields, all or none, idempotency; and
 * `GET /audit/entries/` of one stream, in pages.
 */
export async function startEntryService(): Promise<EntryService> {
  const byKey = new Map<string, string>();
  let requests = 0;
  const service: EntryService = {
    url: '',
    apiKey: 'sk_test',
    recorded: [],
    batches: [],
    faults: [],
    requests: () => requests,
    forgetKeys: () => byKey.clear(),
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
  const answer = (request: IncomingMessage, body: Buffer): [number, object] => {
    if (request.method === 'GET') return listOf(service, request);
    if (request.method !== 'POST' || request.url !== '/audit/entries/batch') return [404, { code: 'not_found' }];
    if (request.headers.authorization !== `Bearer ${service.apiKey}`) return [401, { code: 'unauthenticated' }];
    if (request.headers['content-type'] !== 'application/json') return [415, { code: 'unsupported' }];
    if (body.length > MAX_BYTES) return [413, { code: 'too_large' }];
    const entries = (JSON.parse(body.toString('utf8')) as { entries: RecordedEntry[] }).entries;
    if (entries.length < 1 || entries.length > MAX_ENTRIES) return [422, { code: 'invalid_request' }];
    const wrong = entries.map(faultOf).find((fault) => fault !== undefined);
    if (wrong !== undefined) return [422, { code: 'invalid_request', detail: wrong }];
    if (
      entries.some((entry) => (byKey.get(entry.idempotency_key) ?? JSON.stringify(entry)) !== JSON.stringify(entry))
    ) {
      return [422, { code: 'idempotency_conflict' }];
    }
    const fresh = entries.filter((entry) => {
      const isNew = !byKey.has(entry.idempotency_key);
      byKey.set(entry.idempotency_key, JSON.stringify(entry));
      return isNew;
    });
    service.recorded.push(...fresh);
    service.batches.push(entries.length);
    return [201, { data: entries, created: fresh.length, repeated: entries.length - fresh.length }];
  };
  const server = createServer(async (request, response) => {
    requests++;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const fault = service.faults.shift();
    if (fault !== undefined) response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
    else send(response, ...answer(request, Buffer.concat(chunks)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/audit`;
  return service;
}

const PAGE = 3;

function listOf({ apiKey, recorded }: EntryService, { url = '', headers }: IncomingMessage): [number, object] {
  if (headers.authorization !== `Bearer ${apiKey}`) return [401, { code: 'unauthenticated' }];
  const { pathname, searchParams } = new URL(url, 'http://service');
  if (pathname !== '/audit/entries/') return [404, { code: 'not_found' }];
  const from = Number(searchParams.get('cursor') ?? 0);
  const all = recorded.filter(({ stream_id }) => stream_id === searchParams.get('stream_id'));
  const next = from + PAGE < all.length ? String(from + PAGE) : null;
  const page = all.slice(from, from + PAGE).map(({ idempotency_key: _, ...entry }) => entry);
  return [200, { data: page, next_cursor: next }];
}

function send(response: ServerResponse, status: number, body: object): void {
  const type = status < 300 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
}

function faultOf(entry: RecordedEntry): string | undefined {
  for (const name of REQUIRED) {
    const value: unknown = entry[name];
    if (typeof value !== 'string' || value.length < 1 || value.length > 1024 || !value.isWellFormed()) return name;
  }
  const time = entry.occurred_at;
  if (time !== undefined && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(time))
    return 'occurred_at';
  return Object.keys(entry).find((name) => !KNOWN.has(name));
}

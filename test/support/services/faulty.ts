import { createHash } from 'node:crypto';
import { chainOf, packageOf, type SentEntry } from '../chain.ts';
import { json, type ReceivedRequest, type Reply, startFaultServer } from '../fault-server.ts';
import { packagePdf } from './package-pdf.ts';

/** Purpose of a request. */
export type Step = 'streams' | 'entries' | 'stats' | 'verify' | 'generate' | 'status' | 'json' | 'pdf' | 'summary';

export interface Occasion {
  step: Step;
  /** Stream of the request; null for none. */
  streamId: string | null;
  /** Number of the request among those of this step for this stream, from 1. */
  nth: number;
  request: ReceivedRequest;
  url: URL;
}

/** Replaces an answer; undefined keeps it. */
export type Fault = (occasion: Occasion, truth: Reply) => Reply | undefined | Promise<Reply | undefined>;

export interface FaultyOptions {
  apiKey: string;
  /** Number of entries by stream id, in the order of the list. */
  streams: ReadonlyMap<string, number>;
  fault: Fault;
  /** Returns the id of the n-th package, from 1. */
  packageId?(nth: number, streamId: string): string;
}

export interface FaultyService {
  auditUrl: string;
  requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

interface World {
  options: FaultyOptions;
  chains: Map<string, SentEntry[]>;
  /** Stream ids by package id. */
  packages: Map<string, string>;
}

/** Chains, made once and shared by services. */
const made = new Map<string, SentEntry[]>();

function chainNamed(stream_id: string, length: number): SentEntry[] {
  const name = JSON.stringify([stream_id, length]);
  const chain = made.get(name) ?? chainOf(length, { stream_id });
  made.set(name, chain);
  return chain;
}

/** Starts a service of the default contract with strong ETags and ranges, which answers honestly except for `fault`. */
export async function startFaultyService(options: FaultyOptions): Promise<FaultyService> {
  const chains = new Map([...options.streams].map(([id, length]) => [id, chainNamed(id, length)] as const));
  const world: World = { options, chains, packages: new Map() };
  const counts = new Map<string, number>();
  const { url: auditUrl, ...server } = await startFaultServer(async (request) => {
    if (request.headers.authorization !== `Bearer ${options.apiKey}`) return problem(401, 'unauthenticated');
    const url = new URL(request.path, 'http://service.invalid');
    const target = targetOf(world, request);
    if (target === null) return problem(404, 'not_found');
    const { step, streamId } = target;
    const place = JSON.stringify([step, streamId]);
    const nth = (counts.get(place) ?? 0) + 1;
    counts.set(place, nth);
    const truth = await answer(world, target, url);
    const reply = (await options.fault({ step, streamId, nth, request, url }, truth)) ?? ranged(request, truth);
    return reply;
  });
  return { auditUrl, ...server };
}

interface Target {
  step: Step;
  streamId: string | null;
  packageId: string | null;
}

const FIXED: Record<string, Step> = {
  'GET /streams/': 'streams',
  'GET /entries/': 'entries',
  'GET /stats/': 'stats',
  'POST /evidence/generate': 'generate',
};
const FORMS: readonly Step[] = ['json', 'pdf', 'summary'];

/** Parses the path as sent, because a URL parser would resolve dots in an id. */
function targetOf({ packages, chains }: World, { method, path, body }: ReceivedRequest): Target | null {
  const [plain = '', query] = path.split('?');
  const fixed = FIXED[`${method} ${plain}`];
  if (fixed === 'generate') {
    const streamId: unknown = JSON.parse(body).stream_id;
    return typeof streamId === 'string' && chains.has(streamId) ? { step: fixed, streamId, packageId: null } : null;
  }
  if (fixed !== undefined)
    return { step: fixed, streamId: new URLSearchParams(query).get('stream_id'), packageId: null };
  const [first, id = '', last, ...more] = plain.split('/').slice(1).map(decodeURIComponent);
  if (more.length > 0) return null;
  if (first === 'streams' && last === 'verify' && chains.has(id) && method === 'POST')
    return { step: 'verify', streamId: id, packageId: null };
  const streamId = packages.get(id);
  const step = last === undefined ? 'status' : FORMS.find((form) => form === last);
  return first === 'evidence' && streamId !== undefined && step !== undefined
    ? { step, streamId, packageId: id }
    : null;
}

async function answer(world: World, { step, streamId, packageId }: Target, url: URL): Promise<Reply> {
  const entries = world.chains.get(streamId ?? '') ?? [];
  switch (step) {
    case 'streams':
      return paged(url, [...world.chains].map(toStream));
    case 'entries':
      return paged(url, listed(entries, url.searchParams));
    case 'stats':
      return json(statistics(world));
    case 'verify':
      return json(verification(streamId ?? '', entries));
    case 'generate':
    case 'status':
      return generated(world, streamId ?? '', packageId, entries);
    case 'json':
      return asFile(JSON.stringify(packageFor(packageId ?? '', streamId ?? '', entries)), 'application/json');
    case 'summary':
      return asFile(JSON.stringify(summary(packageId ?? '', streamId ?? '', entries)), 'application/json');
    case 'pdf':
      return asFile(await pdf(packageId ?? '', streamId ?? '', entries), 'application/pdf');
  }
}

/** Returns the JSON form; a fault may change its members. */
export function packageFor(packageId: string, streamId: string, entries: SentEntry[], more: object = {}) {
  return packageOf(entries, { package_id: packageId, stream: { stream_id: streamId }, ...more });
}

/** Returns a file with a strong ETag. */
export function asFile(body: string | Uint8Array, type: string): Reply & { body: string | Uint8Array } {
  const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
  return { headers: { 'content-type': type, etag, 'accept-ranges': 'bytes' }, body };
}

/** Returns the requested range if the file has not changed (RFC 9110 sections 13.1.5 and 14). */
function ranged({ headers }: ReceivedRequest, truth: Reply): Reply {
  const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? Number.NaN);
  const same = headers['if-range'] === undefined || headers['if-range'] === truth.headers?.['etag'];
  return Number.isNaN(start) || !same ? truth : partFrom(truth, start);
}

/** Returns a 206 from this byte on. */
export function partFrom(whole: Reply, start: number): Reply {
  const bytes = bytesOf(whole);
  if (start >= bytes.length) return { status: 416, headers: { 'content-range': `bytes */${bytes.length}` } };
  const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
  return { status: 206, headers: { ...whole.headers, 'content-range': range }, body: bytes.subarray(start) };
}

export function bytesOf({ body = '' }: Reply): Buffer {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new TypeError('the body has no bytes yet');
  return Buffer.from(body);
}

function problem(status: number, code: string): Reply {
  return json({ type: 'about:blank', title: code, status, code }, { status });
}

function paged(url: URL, items: readonly unknown[]): Reply {
  const limit = Math.min(Number(url.searchParams.get('limit') ?? 50), 500);
  const at = Number(url.searchParams.get('cursor') ?? 0);
  const end = at + limit;
  return json({ data: items.slice(at, end), next_cursor: end < items.length ? String(end) : null });
}

function listed(entries: SentEntry[], query: URLSearchParams): SentEntry[] {
  const [from, to, after] = ['from', 'to', 'after_sequence'].map((name) => query.get(name));
  return entries.filter(
    ({ timestamp, sequence }) =>
      (from == null || timestamp >= from) && (to == null || timestamp < to) && sequence > Number(after ?? 0),
  );
}

function toStream([stream_id, entries]: [string, SentEntry[]]) {
  const last = entries.at(-1);
  return {
    stream_id,
    entry_count: entries.length,
    head_sequence: last?.sequence ?? 0,
    head_hash: last?.hash ?? null,
    created_at: '2026-10-01T00:00:00.000Z',
    last_entry_at: last?.timestamp ?? null,
    verified: false,
    verification_status: 'unverified',
    last_checked_at: null,
    verified_through_sequence: null,
  };
}

function statistics({ chains, packages }: World) {
  return {
    streams: chains.size,
    entries: [...chains.values()].reduce((total, entries) => total + entries.length, 0),
    entries_24h: 0,
    verified_streams: 0,
    failed_streams: 0,
    unverified_streams: chains.size,
    checkpoints: 0,
    pending_anchors: 0,
    evidence_packages: packages.size,
  };
}

function verification(streamId: string, entries: SentEntry[]) {
  return {
    verification_id: `ver-${entries.length}`,
    stream_id: streamId,
    verified: true,
    checked_at: '2026-11-01T00:00:00.000Z',
    entries_checked: entries.length,
    from_sequence: entries.at(0)?.sequence ?? null,
    to_sequence: entries.at(-1)?.sequence ?? null,
    head_hash: entries.at(-1)?.hash ?? null,
    failures: [],
  };
}

function generated({ packages, options }: World, streamId: string, known: string | null, entries: SentEntry[]): Reply {
  const nth = packages.size + 1;
  const packageId = known ?? options.packageId?.(nth, streamId) ?? `pkg-${nth}`;
  packages.set(packageId, streamId);
  const created_at = '2026-11-01T00:00:00.000Z';
  const body = { package_id: packageId, status: 'ready', stream_id: streamId, entry_count: entries.length, created_at };
  return json(body, { status: known === null ? 201 : 200 });
}

function summary(package_id: string, stream_id: string, entries: SentEntry[]) {
  const [first, last] = [entries.at(0), entries.at(-1)];
  return {
    package_id,
    stream_id,
    period: null,
    entry_count: entries.length,
    first_sequence: first?.sequence ?? null,
    last_sequence: last?.sequence ?? null,
    head_hash: last?.hash ?? null,
    first_timestamp: first?.timestamp ?? null,
    last_timestamp: last?.timestamp ?? null,
    counts: { actors: {}, actions: {}, resource_types: {} },
    verification: { verified: false, last_checked_at: null },
    limitations: [],
  };
}

function pdf(packageId: string, streamId: string, entries: SentEntry[]): Promise<Uint8Array> {
  return packagePdf('Evidence package', {
    // A longer id does not fit into a line.
    ...(packageId.length > 100 ? {} : { 'Package ID': packageId }),
    ...(streamId.length > 100 ? {} : { 'Stream ID': streamId }),
    'Total entries': entries.length,
    'Head hash': entries.at(-1)?.hash ?? '',
  });
}

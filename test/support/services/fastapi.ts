import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { json, type Reply } from '../fault-server.ts';
import { ALL_PROVED, expectations, faultsOf } from './expectation.ts';
import { openApi } from './fastapi-openapi.ts';
import {
  type ChainMaker,
  type Draft,
  isoformat,
  MAIN_STREAM,
  objectText,
  type Sealed,
  toPeriod,
  within,
} from './history.ts';
import {
  type Call,
  contentsOf,
  type Holdings,
  halfOf,
  holdingsOf,
  jsonText,
  type PackageContents,
  type ServiceKind,
  type ServiceOptions,
  serve,
  textMember,
} from './invented-service.ts';
import { packagePdf } from './package-pdf.ts';
import type { Kind } from './tampering.ts';

/**
 * A service as FastAPI projects write it: `/openapi.json`, redirects to the trailing slash, `{"detail"}`, bare arrays
 * paged by `skip` and `limit`, and times without a zone. Python computes each digest, sha256(previous_hash +
 * json.dumps(rest, sort_keys=True)).
 */
export const fastApi: ServiceKind = {
  start,
  maker: { ...makerParts(), seal: sealByPython },
  expected: expectations({ 'unsafe-integer': ALL_PROVED }),
};

const KEYS: Record<string, string> = { v3: 'fastapi-hmac-key-3', v1: 'fastapi-hmac-key-1, long withdrawn' };
const MAX_LIMIT = 200;
const NOW = Date.UTC(2026, 10, 2) * 1000;

function makerParts(): Omit<ChainMaker, 'seal'> {
  return {
    genesis: '0'.repeat(64),
    madeUpDigest: 'ab'.repeat(32),
    keyId: 'v3',
    withheldKeyId: 'v1',
    members: { actor: 'actor', seal: 'signature' },
  };
}

function sealByPython(previous: string | null, drafts: readonly Draft[]): Sealed[] {
  const entries = `[${drafts.map(toPythonEntry).join(',')}]`;
  const input = objectText({ previous: JSON.stringify(previous), keys: JSON.stringify(KEYS), entries });
  const script = join(import.meta.dirname, 'python-chain.py');
  const output = execFileSync('python3', [script], {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    env: { PYTHONIOENCODING: 'utf-8', PATH: process.env['PATH'] },
  });
  const sealed: Pick<Sealed, 'previous' | 'digest' | 'seal' | 'text'>[] = JSON.parse(output);
  return drafts.map((draft, index) => {
    const made = sealed[index];
    if (made === undefined) throw new Error('Python sealed too few entries');
    return { ...draft, ...made };
  });
}

function toPythonEntry(draft: Draft): string {
  return objectText({
    id: JSON.stringify(draft.entryId),
    stream_id: JSON.stringify(draft.streamId),
    seq: String(draft.sequence),
    ts: JSON.stringify(isoformat(draft.recordedAt)),
    actor: JSON.stringify(draft.actor),
    action: JSON.stringify(draft.action),
    resource_type: JSON.stringify(draft.resourceType),
    resource_id: JSON.stringify(draft.resourceId),
    // Python writes None for a missing value.
    details: draft.details === '{}' ? 'null' : draft.details,
    key_version: JSON.stringify(draft.keyId),
  });
}

interface Package extends PackageContents {
  id: string;
  createdAt: string;
}

interface State extends Holdings {
  packages: Map<string, Package>;
  verdicts: Map<string, { at: string; valid: boolean }>;
  tampering: Kind;
}

async function start({ apiKey, tampering = 'valid' }: ServiceOptions) {
  const state: State = {
    ...holdingsOf(fastApi.maker, tampering),
    packages: new Map(),
    verdicts: new Map(),
    tampering,
  };
  const refusal = json(
    { detail: 'Not authenticated' },
    { status: 401, headers: { 'content-type': 'application/json', 'www-authenticate': 'Bearer' } },
  );
  const service = await serve(
    apiKey,
    (call) => answer(state, call),
    refusal,
    (path) => path === '/openapi.json',
  );
  return { ...service, sealKeys: { v3: KEYS['v3'] ?? '' } };
}

type Endpoint = (state: State, call: Call) => Reply | Promise<Reply>;

const ROUTES: Record<string, Record<string, Endpoint>> = {
  '/openapi.json': { GET: () => json(openApi) },
  '/streams/': { GET: listStreams },
  '/entries/': { GET: listEntries },
  '/stats/': { GET: statistics },
  '/evidence/generate': { POST: generate },
};

function answer(state: State, call: Call): Reply | Promise<Reply> {
  const { method, path, segments } = call;
  const [first, id = '', last = ''] = segments;
  const fixed = ROUTES[path];
  if (fixed !== undefined) return fixed[method]?.(state, call) ?? problem(405, 'Method Not Allowed');
  if (ROUTES[`${path}/`] !== undefined)
    return { status: 307, headers: { location: `${call.origin}${path}/${query(call)}` } };
  if (first === 'streams' && last === 'verify' && segments.length === 3)
    return method === 'POST' ? verify(state, id) : problem(405, 'Method Not Allowed');
  if (first === 'evidence' && segments.length === 3) return download(state, id, last);
  return problem(404, 'Not Found');
}

function query({ query }: Call): string {
  return query.size === 0 ? '' : `?${query}`;
}

function problem(status: number, detail: unknown): Reply {
  return json({ detail }, { status });
}

function invalid(loc: string[], msg: string, type: string): Reply {
  return problem(422, [{ type, loc, msg, input: null }]);
}

function listStreams({ streams, verdicts }: State, call: Call): Reply {
  return paged(call, streams, ({ streamId, createdAt, entries }) =>
    JSON.stringify({
      id: streamId,
      name: streamId,
      created_at: isoformat(createdAt),
      total_entries: entries.length,
      last_seq: entries.at(-1)?.sequence ?? null,
      head_hash: entries.at(-1)?.digest ?? null,
      last_verified_at: verdicts.get(streamId)?.at ?? null,
      is_valid: verdicts.get(streamId)?.valid ?? null,
    }),
  );
}

function listEntries({ streams }: State, call: Call): Reply {
  const period = toPeriod(call.query.get('start_date'), call.query.get('end_date'));
  if (period === null) return invalid(['query', 'start_date'], 'Input should be a valid datetime', 'datetime_parsing');
  const wanted = call.query.get('stream_id');
  const chosen = streams.filter(({ streamId }) => wanted === null || streamId === wanted);
  const entries = chosen.flatMap(({ entries }) => within(entries, period));
  return paged(call, entries, ({ text }) => text);
}

function paged<T>({ query }: Call, items: readonly T[], toText: (item: T) => string): Reply {
  const skip = Number(query.get('skip') ?? 0);
  const limit = Number(query.get('limit') ?? 100);
  if (!Number.isInteger(skip) || skip < 0)
    return invalid(['query', 'skip'], 'Input should be greater than or equal to 0', 'greater_than_equal');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    return invalid(['query', 'limit'], `Input should be less than or equal to ${MAX_LIMIT}`, 'less_than_equal');
  const page = items.slice(skip, skip + limit).map(toText);
  return jsonText(`[${page.join(',')}]`);
}

function statistics({ streams, packages }: State): Reply {
  const entries = streams.reduce((total, stream) => total + stream.entries.length, 0);
  return json({ total_streams: streams.length, total_entries: entries, evidence_packages: packages.size });
}

function verify(state: State, id: string): Reply {
  const stream = state.streams.find(({ streamId }) => streamId === id);
  if (stream === undefined) return problem(404, 'Stream not found');
  const { valid, sequences } = faultsOf(id === MAIN_STREAM ? fastApi.expected[state.tampering] : ALL_PROVED);
  const at = isoformat(NOW);
  state.verdicts.set(id, { at, valid });
  return json({
    stream_id: id,
    is_valid: valid,
    verified_at: at,
    entries_checked: stream.entries.length,
    errors: sequences.map((seq) => ({ seq, error: 'hash or link does not match' })),
  });
}

function generate(state: State, { body }: Call): Reply {
  const streamId = textMember(body, 'stream_id');
  if (streamId === null) return invalid(['body', 'stream_id'], 'Field required', 'missing');
  const stream = state.streams.find((known) => known.streamId === streamId);
  if (stream === undefined) return problem(404, 'Stream not found');
  const period = toPeriod(textMember(body, 'start_date'), textMember(body, 'end_date'));
  if (period === null) return invalid(['body', 'start_date'], 'Input should be a valid datetime', 'datetime_parsing');
  const made = { id: randomUUID(), createdAt: isoformat(NOW), ...contentsOf(stream, period) };
  state.packages.set(made.id, made);
  const { id, createdAt, entries } = made;
  return json({
    id,
    status: 'completed',
    stream_id: streamId,
    title: textMember(body, 'title'),
    total_entries: entries.length,
    created_at: createdAt,
  });
}

function download({ packages, cutOff }: State, id: string, form: string): Reply | Promise<Reply> {
  const made = packages.get(id);
  if (made === undefined) return problem(404, 'Evidence package not found');
  const { streamId, entries, stated, createdAt } = made;
  if (form === 'json') {
    const head = {
      id,
      stream_id: streamId,
      generated_at: createdAt,
      total_entries: stated.length,
      head_hash: stated.at(-1)?.digest ?? null,
    };
    const logs = `[${entries.map(({ text }) => text).join(',')}]`;
    const text = objectText({ package: JSON.stringify(head), audit_logs: logs });
    return jsonText(cutOff && streamId === MAIN_STREAM ? halfOf(text) : text);
  }
  if (form === 'summary')
    return json({
      id,
      stream_id: streamId,
      total_entries: entries.length,
      head_hash: entries.at(-1)?.digest ?? null,
      actors: [...new Set(entries.map(({ actor }) => actor))],
    });
  return form === 'pdf' ? pdf(made) : problem(404, 'Not Found');
}

async function pdf({ id, streamId, entries }: Package): Promise<Reply> {
  const body = await packagePdf('Audit Evidence', {
    'Package ID': id,
    'Stream ID': streamId,
    'Total entries': entries.length,
    ...(entries.length === 0 ? {} : { 'Head hash': entries.at(-1)?.digest ?? '' }),
  });
  return { headers: { 'content-type': 'application/pdf' }, body };
}

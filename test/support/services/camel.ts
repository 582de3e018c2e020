import { createHash, createHmac, randomUUID } from 'node:crypto';
import { json, type Reply } from '../fault-server.ts';
import { ALL_PROVED, expectations, faultsOf } from './expectation.ts';
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
 * A service as a Java team would write it: camelCase, `{items, nextToken}`, and packages made in the background. A
 * digest is SHA-512 in base64url over eight fields joined with "|", which leaves `context` uncovered.
 */
export const camel: ServiceKind = {
  start,
  maker: makeMaker(),
  expected: expectations({ 'edited-metadata': ALL_PROVED, 'unsafe-integer': ALL_PROVED }),
};

const KEYS: Record<string, string> = { 'hsm-7': 'camel signing key no. 7', 'hsm-4': 'camel signing key no. 4' };
const PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;
const NOW = Date.UTC(2026, 10, 2) * 1000;
/** Statuses of a new package's downloads before it is ready. */
const NOT_READY = [409, 425, 425];

function makeMaker(): ChainMaker {
  return {
    genesis: '',
    madeUpDigest: Buffer.alloc(64, 0xab).toString('base64url'),
    keyId: 'hsm-7',
    withheldKeyId: 'hsm-4',
    members: { actor: 'actor', seal: 'signature' },
    seal: (previous, drafts) => {
      let before = previous;
      return drafts.map((draft) => {
        const sealed = sealOne(before, draft);
        before = sealed.digest;
        return sealed;
      });
    },
  };
}

function sealOne(previous: string | null, draft: Draft): Sealed {
  const { streamId, sequence, actor, action, resourceType, resourceId, keyId } = draft;
  const recordedAt = toInstant(draft.recordedAt);
  const covered = [streamId, sequence, recordedAt, actor, action, resourceType, resourceId, previous];
  const digest = createHash('sha512').update(covered.join('|')).digest('base64url');
  const seal = createHmac('sha512', KEYS[keyId] ?? '')
    .update(digest)
    .digest('base64');
  const text = objectText({
    entryId: JSON.stringify(draft.entryId),
    streamId: JSON.stringify(streamId),
    sequenceNumber: String(sequence),
    recordedAt: JSON.stringify(recordedAt),
    actor: JSON.stringify(actor),
    action: JSON.stringify(action),
    resourceType: JSON.stringify(resourceType),
    resourceId: JSON.stringify(resourceId),
    context: draft.details,
    prevDigest: JSON.stringify(previous),
    digest: JSON.stringify(digest),
    signature: JSON.stringify(seal),
    signatureKeyId: JSON.stringify(keyId),
  });
  return { ...draft, previous, digest, seal, text };
}

/** Formats a time as `Instant.toString()` does, with three, six or no fractional digits. */
function toInstant(microseconds: number): string {
  return `${isoformat(microseconds).replace(/000$/, '')}Z`;
}

interface Package extends PackageContents {
  id: string;
  /** Statuses of downloads until the package is ready. */
  refusals: number[];
}

interface State extends Holdings {
  packages: Map<string, Package>;
  verdicts: Map<string, { at: string; valid: boolean }>;
  tampering: Kind;
}

async function start({ apiKey, tampering = 'valid' }: ServiceOptions) {
  const state: State = {
    ...holdingsOf(camel.maker, tampering),
    packages: new Map(),
    verdicts: new Map(),
    tampering,
  };
  const service = await serve(
    apiKey,
    (call) => answer(state, call),
    problem(401, 'UNAUTHORIZED', 'Bearer token required'),
  );
  return { ...service, sealKeys: { 'hsm-7': KEYS['hsm-7'] ?? '' } };
}

function answer(state: State, call: Call): Reply | Promise<Reply> {
  const [first, id = '', last = ''] = call.segments;
  const isRead = call.method === 'GET';
  switch (`${call.method} ${call.path}`) {
    case 'GET /streams/':
      return listStreams(state, call);
    case 'GET /entries/':
      return listEntries(state, call);
    case 'GET /stats/':
      return statistics(state);
    case 'POST /evidence/generate':
      return generate(state, call);
  }
  if (first === 'streams' && last === 'verify' && !isRead) return verify(state, id);
  if (first === 'evidence' && isRead && call.segments.length === 3) return download(state, id, last);
  return problem(404, 'NOT_FOUND', `No resource at ${call.path}`);
}

function problem(status: number, code: string, message: string): Reply {
  return json({ error: { code, message } }, { status });
}

function listStreams({ streams, verdicts }: State, call: Call): Reply {
  return paged(call, streams, ({ streamId, createdAt, entries }) =>
    JSON.stringify({
      streamId,
      displayName: streamId,
      createdAt: toInstant(createdAt),
      entryCount: entries.length,
      lastSequenceNumber: entries.at(-1)?.sequence ?? 0,
      lastDigest: entries.at(-1)?.digest ?? null,
      integrity: integrityOf(verdicts.get(streamId)?.valid),
      ...(verdicts.has(streamId) ? { lastCheckedAt: verdicts.get(streamId)?.at } : {}),
    }),
  );
}

function integrityOf(valid: boolean | undefined): string {
  if (valid === undefined) return 'UNVERIFIED';
  return valid ? 'VERIFIED' : 'BROKEN';
}

function listEntries({ streams }: State, call: Call): Reply {
  const period = toPeriod(call.query.get('since'), call.query.get('until'));
  if (period === null) return problem(400, 'INVALID_ARGUMENT', 'since and until are ISO 8601 instants');
  const wanted = call.query.get('streamId');
  const chosen = streams.filter(({ streamId }) => wanted === null || streamId === wanted);
  return paged(
    call,
    chosen.flatMap(({ entries }) => within(entries, period)),
    ({ text }) => text,
  );
}

/** Returns a page, and silently limits its size. */
function paged<T>({ query }: Call, items: readonly T[], toText: (item: T) => string): Reply {
  const size = Math.min(Number(query.get('pageSize') ?? PAGE_SIZE), MAX_PAGE_SIZE);
  const token = query.get('pageToken');
  const at = token === null ? 0 : offsetOf(token);
  if (!Number.isInteger(size) || size < 1) return problem(400, 'INVALID_ARGUMENT', 'pageSize is a positive integer');
  if (at === null) return problem(400, 'INVALID_ARGUMENT', 'pageToken is not one of ours');
  const page = items.slice(at, at + size).map(toText);
  const isLast = at + size >= items.length;
  return jsonText(
    objectText({ items: `[${page.join(',')}]`, ...(isLast ? {} : { nextToken: JSON.stringify(tokenOf(at + size)) }) }),
  );
}

function tokenOf(offset: number): string {
  return Buffer.from(JSON.stringify({ offset })).toString('base64url');
}

function offsetOf(token: string): number | null {
  return Number(/^\{"offset":(\d+)\}$/.exec(Buffer.from(token, 'base64url').toString())?.[1]) || null;
}

function statistics({ streams, packages }: State): Reply {
  const entryCount = streams.reduce((total, stream) => total + stream.entries.length, 0);
  return json({ streamCount: streams.length, entryCount, packageCount: packages.size });
}

function verify({ streams, tampering, verdicts }: State, id: string): Reply {
  if (!streams.some(({ streamId }) => streamId === id)) return problem(404, 'NOT_FOUND', `No stream ${id}`);
  const { valid, sequences } = faultsOf(id === MAIN_STREAM ? camel.expected[tampering] : ALL_PROVED);
  const checkedAt = toInstant(NOW);
  verdicts.set(id, { at: checkedAt, valid });
  return json({
    valid,
    checkedAt,
    errors: sequences.map((sequenceNumber) => ({ sequenceNumber, reason: 'CHAIN_BROKEN' })),
  });
}

function generate({ streams, packages }: State, { body }: Call): Reply {
  const stream = streams.find(({ streamId }) => streamId === textMember(body, 'streamId'));
  if (stream === undefined) return problem(400, 'INVALID_ARGUMENT', 'streamId names no stream');
  const period = toPeriod(textMember(body, 'since'), textMember(body, 'until'));
  if (period === null) return problem(400, 'INVALID_ARGUMENT', 'since and until are ISO 8601 instants');
  const id = randomUUID();
  packages.set(id, { id, refusals: [...NOT_READY], ...contentsOf(stream, period) });
  return json({ packageId: id, state: 'PROCESSING' }, { status: 202 });
}

function download({ packages, cutOff }: State, id: string, form: string): Reply | Promise<Reply> {
  const made = packages.get(id);
  if (made === undefined) return problem(404, 'NOT_FOUND', `No package ${id}`);
  const refusal = made.refusals.shift();
  if (refusal !== undefined)
    return json(
      { error: { code: 'NOT_READY', message: 'The package is being assembled' } },
      { status: refusal, headers: { 'content-type': 'application/json', 'retry-after': '0' } },
    );
  if (form === 'json') return evidence(made, cutOff);
  if (form === 'summary') return summary(made);
  return form === 'pdf' ? pdf(made) : problem(404, 'NOT_FOUND', `No form ${form}`);
}

/** Writes counts and head after the entries. */
function evidence({ id, streamId, entries, stated }: Package, cutOff: boolean): Reply {
  const text = objectText({
    packageId: JSON.stringify(id),
    streamId: JSON.stringify(streamId),
    records: `[${entries.map(({ text }) => text).join(',')}]`,
    recordCount: String(stated.length),
    lastDigest: JSON.stringify(stated.at(-1)?.digest ?? null),
  });
  return jsonText(cutOff && streamId === MAIN_STREAM ? halfOf(text) : text);
}

function summary({ id, streamId, entries }: Package): Reply {
  const [first, last] = [entries.at(0), entries.at(-1)];
  return json({
    packageId: id,
    streamId,
    recordCount: entries.length,
    lastDigest: last?.digest ?? null,
    firstRecordedAt: first === undefined ? null : toInstant(first.recordedAt),
    lastRecordedAt: last === undefined ? null : toInstant(last.recordedAt),
  });
}

async function pdf({ id, streamId, entries }: Package): Promise<Reply> {
  const body = await packagePdf('Evidence export', {
    'Package ID': id,
    'Stream ID': streamId,
    'Number of entries': entries.length,
    ...(entries.length === 0 ? {} : { 'Head digest': entries.at(-1)?.digest ?? '' }),
  });
  return { headers: { 'content-type': 'application/pdf' }, body };
}

import { createHmac, randomUUID } from 'node:crypto';
import { json, type Reply } from '../fault-server.ts';
import { ALL_PROVED, type Expectation, type Expectations, expectations } from './expectation.ts';
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

/**
 * A service as Django REST projects write it: `{count, next, previous, results}` by page number, newest first, with
 * packages wrapped in `data`. Entries have no digest but a MAC over the previous MAC and the entry as sent, and there
 * is no Verify operation.
 */
export const results: ServiceKind = { start, maker: makeMaker(), expected: ownExpectations() };

const KEYS: Record<string, string> = { 'k-2026': 'results mac key of 2026', 'k-2019': 'results mac key of 2019' };
const PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 100;
const NOW = Date.UTC(2026, 10, 2) * 1000;

/**
 * Expects content findings instead of seal findings, because the MAC is the digest: a bad MAC or an unknown key
 * concerns content, and there are no seals.
 */
function ownExpectations(): Expectations {
  const unsealed = ({ claims, findings }: Expectation): Expectation => ({
    claims: { ...claims, seal: 'unproved' },
    findings,
  });
  const all = expectations({
    'unsafe-integer': ALL_PROVED,
    'bad-seal': {
      claims: { order: 'refuted', content: 'refuted', continuity: 'proved' },
      findings: [
        { severity: 'error', code: 'content/mismatch', sequence: 30 },
        { severity: 'error', code: 'order/broken-link', sequence: 31 },
      ],
    },
    'unknown-key': {
      claims: { order: 'proved', content: 'unproved', continuity: 'proved' },
      findings: [{ severity: 'warning', code: 'seal/unknown-key', sequence: 30 }],
    },
  });
  return Object.fromEntries(
    Object.entries(all).map(([kind, expectation]) => [kind, unsealed(expectation)]),
  ) as Expectations;
}

function makeMaker(): ChainMaker {
  return {
    genesis: null,
    madeUpDigest: 'ab'.repeat(32),
    keyId: 'k-2026',
    withheldKeyId: 'k-2019',
    members: { actor: 'actor', seal: 'mac' },
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
  const covered = {
    uid: JSON.stringify(draft.entryId),
    stream: JSON.stringify(draft.streamId),
    position: String(draft.sequence),
    created: JSON.stringify(toTime(draft.recordedAt)),
    actor: JSON.stringify(draft.actor),
    verb: JSON.stringify(draft.action),
    target_type: JSON.stringify(draft.resourceType),
    target_id: JSON.stringify(draft.resourceId),
    data: draft.details,
    key_id: JSON.stringify(draft.keyId),
  };
  const mac = createHmac('sha256', KEYS[draft.keyId] ?? '')
    .update(`${previous ?? ''}\n${objectText(covered)}`)
    .digest('hex');
  const text = objectText({ ...covered, prev_mac: JSON.stringify(previous), mac: JSON.stringify(mac) });
  return { ...draft, previous, digest: mac, seal: null, text };
}

function toTime(microseconds: number): string {
  return `${isoformat(microseconds)}Z`;
}

interface Package extends PackageContents {
  id: string;
}

interface State extends Holdings {
  packages: Map<string, Package>;
}

async function start({ apiKey, tampering = 'valid' }: ServiceOptions) {
  const state: State = { ...holdingsOf(results.maker, tampering), packages: new Map() };
  const refusal = problem(401, 'Authentication credentials were not provided.');
  const service = await serve(apiKey, (call) => answer(state, call), refusal);
  return { ...service, sealKeys: { 'k-2026': KEYS['k-2026'] ?? '' } };
}

const METHODS: Record<string, string> = {
  '/streams/': 'GET',
  '/entries/': 'GET',
  '/stats/': 'GET',
  '/evidence/generate': 'POST',
};

function answer(state: State, call: Call): Reply | Promise<Reply> {
  const { method, path, segments } = call;
  if ((METHODS[path] ?? method) !== method) return problem(405, `Method "${method}" not allowed.`);
  if (path === '/streams/') return listStreams(state, call);
  if (path === '/entries/') return listEntries(state, call);
  if (path === '/stats/') return statistics(state);
  if (path === '/evidence/generate') return generate(state, call);
  const [first, id = '', form = ''] = segments;
  if (first !== 'evidence' || segments.length !== 3) return problem(404, 'Not found.');
  return method === 'GET' ? download(state, id, form) : problem(405, `Method "${method}" not allowed.`);
}

function problem(status: number, detail: string): Reply {
  return json({ detail }, { status });
}

function listStreams({ streams }: State, call: Call): Reply {
  return paged(call, streams, ({ streamId, createdAt, entries }) =>
    JSON.stringify({
      stream: streamId,
      created: toTime(createdAt),
      entries: entries.length,
      last_position: entries.at(-1)?.sequence ?? null,
      last_mac: entries.at(-1)?.digest ?? null,
    }),
  );
}

function listEntries({ streams }: State, call: Call): Reply {
  const period = toPeriod(call.query.get('date_from'), call.query.get('date_to'));
  if (period === null) return json({ date_from: ['Enter a valid date/time.'] }, { status: 400 });
  const wanted = call.query.get('stream');
  const chosen = streams.filter(({ streamId }) => wanted === null || streamId === wanted);
  const entries = chosen.flatMap(({ entries }) => within(entries, period));
  return paged(call, entries.toReversed(), ({ text }) => text);
}

function paged<T>({ query, origin, path }: Call, items: readonly T[], toText: (item: T) => string): Reply {
  const asked = Number(query.get('page_size') ?? PAGE_SIZE);
  const size = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MAX_PAGE_SIZE) : PAGE_SIZE;
  const page = Number(query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  if (!Number.isInteger(page) || page < 1 || page > last) return problem(404, 'Invalid page.');
  const link = (number: number) => {
    if (number < 1 || number > last) return 'null';
    const url = new URL(path, origin);
    url.search = query.toString();
    url.searchParams.set('page', String(number));
    return JSON.stringify(url.href);
  };
  const texts = items.slice((page - 1) * size, page * size).map(toText);
  return jsonText(
    objectText({
      count: String(items.length),
      next: link(page + 1),
      previous: link(page - 1),
      results: `[${texts.join(',')}]`,
    }),
  );
}

function statistics({ streams, packages }: State): Reply {
  const entries = streams.reduce((total, stream) => total + stream.entries.length, 0);
  return json({ streams: streams.length, entries, packages: packages.size });
}

function generate({ streams, packages }: State, { body }: Call): Reply {
  const name = textMember(body, 'stream');
  if (name === null) return json({ stream: ['This field is required.'] }, { status: 400 });
  const stream = streams.find(({ streamId }) => streamId === name);
  if (stream === undefined) return json({ stream: [`Object with name=${name} does not exist.`] }, { status: 400 });
  const period = toPeriod(textMember(body, 'date_from'), textMember(body, 'date_to'));
  if (period === null) return json({ date_from: ['Datetime has wrong format.'] }, { status: 400 });
  const id = randomUUID();
  packages.set(id, { id, ...contentsOf(stream, period) });
  return json({ data: { package: { uuid: id } } }, { status: 201 });
}

function download({ packages, cutOff }: State, id: string, form: string): Reply | Promise<Reply> {
  const made = packages.get(id);
  if (made === undefined) return problem(404, 'Not found.');
  if (form === 'json') return evidence(made, cutOff);
  if (form === 'summary') return summary(made);
  return form === 'pdf' ? pdf(made) : problem(404, 'Not found.');
}

function evidence({ id, streamId, entries, stated }: Package, cutOff: boolean): Reply {
  const meta = {
    uuid: id,
    stream: streamId,
    generated: toTime(NOW),
    count: stated.length,
    last_mac: stated.at(-1)?.digest ?? null,
  };
  const data = objectText({
    meta: JSON.stringify(meta),
    entries: `[${entries.map(({ text }) => text).join(',')}]`,
  });
  const text = objectText({ data });
  return jsonText(cutOff && streamId === MAIN_STREAM ? halfOf(text) : text);
}

function summary({ id, streamId, entries }: Package): Reply {
  const lines = [
    '# Evidence package',
    '',
    `- Package: ${id}`,
    `- Stream: ${streamId}`,
    `- Entries: ${entries.length}`,
    `- Last MAC: ${entries.at(-1)?.digest ?? 'none'}`,
    '',
  ];
  return { headers: { 'content-type': 'text/markdown; charset=utf-8' }, body: lines.join('\n') };
}

async function pdf({ id, streamId, entries }: Package): Promise<Reply> {
  const body = await packagePdf('Evidence', { 'Package ID': id, 'Stream ID': streamId, Entries: entries.length });
  return { headers: { 'content-type': 'application/pdf' }, body };
}

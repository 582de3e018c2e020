import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClaimName } from '../../src/verifier/claims/claim.ts';
import type { SentEntry } from './chain.ts';
import { evidence } from './evidence.ts';
import { json, type ReceivedRequest, type Reply, startFaultServer } from './fault-server.ts';
import { packagePdf } from './services/package-pdf.ts';

/** Answers about a stream by a service of the default contract; tests can change each of them. */
export interface Told {
  entries: SentEntry[];
  /** Selects the entries of a package; by default all of the period. */
  packaged?: (entries: SentEntry[]) => SentEntry[];
  /** Selects the entries of the listing; by default all of the period. */
  listed?: (entries: SentEntry[]) => SentEntry[];
  /** Members of the stream in the list of streams, other than its id. */
  stated?: object;
  /** Members of the package to change. */
  package?: object;
  /** Status with which the service refuses to make a package. */
  refused?: number;
  /** Forms that the service withholds. */
  withheld?: string[];
  /** Entries by action, as the summary states them; none by default. */
  actions?: Record<string, number>;
  /** Members to change in the answer to `generate`, and in the package's status. */
  made?: object;
  ready?: object;
  /** Date header of the answer to `generate`. */
  date?: Date;
  /** Refuses to list the entries after a number. */
  refuseAfter?: boolean;
  /** Makes no package of the stream available. */
  unavailable?: boolean;
}

interface Period {
  from: string | null;
  to: string | null;
}

export interface FalseService {
  url: string;
  /** Streams by id; the service lists no others. */
  streams: Map<string, Told>;
  /** Date header of every answer; by default the machine's time. */
  date: Date | null;
  /** Answers 403 for a stream that does not exist. */
  hidesUnknown: boolean;
  /** Changes an answer before it is sent. @param path decoded, such as `/streams/s/verify`. */
  twist: (reply: Reply, path: string, request: ReceivedRequest) => Reply | Promise<Reply>;
  /** Received requests, in order. */
  requests: readonly ReceivedRequest[];
  /** Folder of the exports and of the archive. */
  directory: string;
  /** Exports in this process, and returns the output of `--json`. */
  export(flags: {
    request?: string;
    period?: string;
    from?: string;
    'dry-run'?: boolean;
    missing?: boolean;
    'all-time'?: boolean;
    revise?: boolean;
    exclude?: string[];
    'requested-by'?: string;
    'finalize-partial'?: boolean;
  }): Promise<Printed>;
  verify(target?: string): Promise<Printed>;
  doctor(): Promise<Printed>;
  close(): Promise<void>;
}

export interface Printed {
  code: number;
  // biome-ignore lint/suspicious/noExplicitAny: a command's document, whose schema other tests check.
  document: any;
  /** Standard error output. */
  said: string;
}

export async function startFalseService(
  more: { contract?: string; require?: ClaimName[] } = {},
): Promise<FalseService> {
  const streams = new Map<string, Told>();
  const packages = new Map<string, { streamId: string; period: Period }>();
  const server = await startFaultServer(async (request) => {
    const told = await answer(request, service, packages);
    const path = decodeURIComponent(new URL(request.path, 'http://service').pathname);
    const reply = await service.twist(told, path, request);
    if (service.date === null) return reply;
    return { ...reply, headers: { date: service.date.toUTCString(), ...reply.headers } };
  });
  const directory = mkdtempSync(join(tmpdir(), 'false-service-'));
  const env = { EVIDENCE_AUDIT_URL: server.url, EVIDENCE_API_KEY: 'sk_of_a_false_service' };
  const run = async (words: string[], flags: object): Promise<Printed> => {
    const all = [...words, '--json', '--quiet', ...flagWords({ ...more, ...flags })];
    const { code, stdout, stderr } = await evidence(all, { cwd: directory, env });
    return { code, document: stdout === '' ? null : JSON.parse(stdout), said: stderr };
  };
  const service: FalseService = {
    url: server.url,
    streams,
    date: null,
    hidesUnknown: false,
    twist: (reply) => reply,
    requests: server.requests,
    directory,
    export: (flags) => run(['export'], flags),
    verify: (target = 'evidence-archive') => run(['verify', target], {}),
    doctor: () => run(['doctor'], {}),
    close: () => server.close(),
  };
  return service;
}

/** Formats flags for a command line. */
function flagWords(flags: object): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    if (value === true) return [`--${name}`];
    return [value].flat().flatMap((one) => (one === undefined || one === false ? [] : [`--${name}`, String(one)]));
  });
}

async function answer(
  { method, path, body }: ReceivedRequest,
  { streams, hidesUnknown }: Pick<FalseService, 'streams' | 'hidesUnknown'>,
  packages: Map<string, { streamId: string; period: Period }>,
): Promise<Reply> {
  const url = new URL(path, 'http://service');
  const [, first = '', id = '', form = ''] = url.pathname.split('/').map(decodeURIComponent);
  if (first === 'streams' && method === 'GET') return page([...streams].map(([one, told]) => listed(one, told)));
  if (first === 'stats') return json({ streams: streams.size });
  if (first === 'entries') {
    const told = streams.get(url.searchParams.get('stream_id') ?? '');
    const period = { from: url.searchParams.get('from'), to: url.searchParams.get('to') };
    if (told?.refuseAfter === true && url.searchParams.has('after_sequence')) return { status: 404 };
    const after = Number(url.searchParams.get('after_sequence') ?? -1);
    const entries = within(told?.entries ?? [], period).filter(({ sequence }) => sequence > after);
    return page(told?.listed === undefined ? entries : told.listed(entries));
  }
  if (first === 'evidence' && id === 'generate') {
    const { stream_id: streamId, from = null, to = null } = JSON.parse(body);
    if (!streams.has(streamId)) return { status: hidesUnknown || isRefusedAll(streams) ? 403 : 404 };
    if (streams.get(streamId)?.unavailable === true) return { status: 404 };
    const packageId = `pkg-${packages.size + 1}`;
    packages.set(packageId, { streamId, period: { from, to } });
    const { date, refused, made: more } = streams.get(streamId) ?? {};
    if (refused !== undefined) return { status: refused };
    const made = { package_id: packageId, stream_id: streamId, status: 'ready', ...more };
    const headers = { 'content-type': 'application/json', ...(date === undefined ? {} : { date: date.toUTCString() }) };
    return json(made, { status: 201, headers });
  }
  const asked = packages.get(id);
  const told = streams.get(asked?.streamId ?? '');
  if (asked === undefined || told === undefined || told.withheld?.includes(form) === true) return { status: 404 };
  if (form === '') return json({ package_id: id, stream_id: asked.streamId, status: 'ready', ...told.ready });
  const entries = within(told.entries, asked.period);
  return formOf(form, id, asked.streamId, told, told.packaged === undefined ? entries : told.packaged(entries));
}

/** True if a key without rights is refused for every stream. */
function isRefusedAll(streams: ReadonlyMap<string, Told>): boolean {
  return [...streams.values()].every(({ refused }) => refused === 403);
}

async function formOf(form: string, id: string, streamId: string, told: Told, entries: SentEntry[]): Promise<Reply> {
  const facts = {
    package_id: id,
    stream_id: streamId,
    entry_count: entries.length,
    head_hash: entries.at(-1)?.hash ?? null,
  };
  if (form === 'summary') return json({ ...facts, counts: { actions: told.actions ?? {} } });
  if (form === 'pdf') {
    const body = await packagePdf('Package', { Package: id, Entries: entries.length });
    return { headers: { 'content-type': 'application/pdf' }, body };
  }
  const { stream_id, ...stated } = facts;
  return json({
    format: 'evidence-package/1',
    stream: { stream_id },
    ...stated,
    first_sequence: entries[0]?.sequence ?? null,
    last_sequence: entries.at(-1)?.sequence ?? null,
    generated_at: new Date().toISOString(),
    checkpoints: [],
    ...told.package,
    entries,
  });
}

function listed(streamId: string, { entries, stated }: Told): object {
  const last = entries.at(-1);
  return {
    stream_id: streamId,
    entry_count: entries.length,
    head_sequence: last?.sequence ?? 0,
    head_hash: last?.hash ?? null,
    verified: true,
    last_checked_at: null,
    ...stated,
  };
}

function within(entries: readonly SentEntry[], { from, to }: Period): SentEntry[] {
  return entries.filter(
    ({ timestamp }) =>
      (from === null || Date.parse(timestamp) >= Date.parse(from)) &&
      (to === null || Date.parse(timestamp) < Date.parse(to)),
  );
}

function page(data: readonly object[]): Reply {
  return json({ data, next_cursor: null });
}

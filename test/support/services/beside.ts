import { entryAfter, type SentEntry } from '../chain.ts';
import { json, type ReceivedRequest, type Reply, startFaultServer } from '../fault-server.ts';

export const OTHERS = ['traps', 'endpoints', 'agents'] as const;
export type Other = (typeof OTHERS)[number];

/** Replaces an answer; undefined keeps it. */
export type BesideFault = (
  request: { service: Other; path: string; url: URL; nth: number },
  truth: Reply,
) => Reply | undefined | Promise<Reply | undefined>;

type Item = Record<string, unknown>;

/** Records that the services list, by list. */
export interface Shown {
  detections: Item[];
  events: Item[];
  scans: Item[];
  agents: Item[];
  /** Actions by agent id. */
  actions: Record<string, Item[]>;
}

export interface BesideServices {
  /** Addresses under their names in evidence.yaml. */
  urls: { traps_url: string; endpoints_url: string; agents_url: string };
  requests: readonly ReceivedRequest[];
  shown: Shown;
  /** Fault of later requests; tests may replace it. */
  fault: BesideFault;
  close(): Promise<void>;
}

const NONE: BesideFault = () => undefined;

/** Starts the three services of the default description, which answer honestly except for `fault`. */
export async function startBeside(shown: Shown, apiKey: string): Promise<BesideServices> {
  const counts = new Map<string, number>();
  const server = await startFaultServer(async (request) => {
    const url = new URL(request.path, 'http://service.invalid');
    const [, first = '', ...rest] = url.pathname.split('/');
    const service = OTHERS.find((name) => name === first);
    if (service === undefined) return { status: 404 };
    const path = `/${rest.join('/')}`;
    const nth = (counts.get(url.pathname) ?? 0) + 1;
    counts.set(url.pathname, nth);
    const isPublic = path.startsWith('/public/');
    const isAllowed = isPublic
      ? request.headers.authorization === undefined
      : request.headers.authorization === `Bearer ${apiKey}`;
    const truth = isAllowed
      ? answer(services.shown, service, path, url)
      : json({ code: 'unauthenticated' }, { status: 401 });
    return (await services.fault({ service, path, url, nth }, truth)) ?? truth;
  });
  const at = (name: Other) => `${server.url}/${name}`;
  const services: BesideServices = {
    urls: { traps_url: at('traps'), endpoints_url: at('endpoints'), agents_url: at('agents') },
    requests: server.requests,
    shown,
    fault: NONE,
    close: () => server.close(),
  };
  return services;
}

function answer(shown: Shown, service: Other, path: string, url: URL): Reply {
  if (path === '/stats/') return json({ service, wrong_since: null });
  const lists: Record<string, Item[]> = {
    '/detections/': shown.detections,
    '/events/': shown.events,
    '/scans/': shown.scans,
    '/agents/': shown.agents,
  };
  const list = lists[path];
  if (list !== undefined) return paged(url, list);
  const [, verified] = /^\/public\/verify-agent\/([^/]+)$/.exec(path) ?? [];
  if (verified !== undefined)
    return json({ agent_id: decodeURIComponent(verified), valid: true, checked_at: new Date().toISOString() });
  const [, acting = ''] = /^\/agents\/([^/]+)\/actions$/.exec(path) ?? [];
  const actions = shown.actions[decodeURIComponent(acting)];
  return actions === undefined ? { status: 404 } : paged(url, actions);
}

function paged(url: URL, items: readonly Item[]): Reply {
  const limit = Number(url.searchParams.get('limit') ?? 50);
  const at = Number(url.searchParams.get('cursor') ?? 0);
  const end = at + limit;
  return json({ data: items.slice(at, end), next_cursor: end < items.length ? String(end) : null });
}

/** Returns the position of an entry in the audit service. */
function entryOf({ stream_id, sequence, hash }: SentEntry) {
  return { stream_id, sequence, hash };
}

export const AGENT = 'agent-1';
const ENDPOINT = 'web-1';
const AT = '2026-10-01T00:00:30.000Z';

/** Returns streams with an entry for each record of a trap, an endpoint and an agent, with `each` records of a kind. */
export function storyOf(each: number): { streams: Map<string, SentEntry[]>; shown: Shown } {
  const shown: Shown = { detections: [], events: [], scans: [], agents: [], actions: { [AGENT]: [] } };
  const streams = new Map<string, SentEntry[]>([
    ['traps', []],
    [`endpoints/${ENDPOINT}`, []],
    [`agents/${AGENT}`, []],
  ]);
  const record = (stream_id: string, more: Partial<SentEntry>): SentEntry => {
    const entries = streams.get(stream_id) ?? [];
    const entry = entryAfter(entries.at(-1) ?? null, { stream_id, ...more });
    entries.push(entry);
    return entry;
  };
  for (let number = 1; number <= each; number++) {
    shown.detections.push(detection(number, record));
    shown.events.push(event(number, record));
    shown.scans.push(scan(number, record));
    shown.actions[AGENT]?.push(action(number, record));
  }
  shown.agents.push({ agent_id: AGENT, audit_stream: { stream_id: `agents/${AGENT}` } });
  shown.agents.push({ agent_id: 'agent-of-nobody', audit_stream: { stream_id: 'elsewhere' } });
  return { streams, shown };
}

type RecordEntry = (streamId: string, more: Partial<SentEntry>) => SentEntry;

function detection(number: number, record: RecordEntry): Item {
  const said = {
    detection_id: `det-${number}`,
    credential_type: 'aws',
    plant_location: '/etc',
    label: `bait ${number}`,
  };
  const entry = record('traps', {
    action: 'trap.used',
    resource_type: 'trap',
    resource_id: `cred-${number}`,
    metadata: said,
  });
  return { ...said, detected_at: AT, credential_id: `cred-${number}`, severity: 'high', entry: entryOf(entry) };
}

function event(number: number, record: RecordEntry): Item {
  const said = {
    event_id: `evt-${number}`,
    event_type: 'changed',
    path: `/bin/${number}`,
    expected_sha256: null,
    observed_sha256: null,
  };
  const others = number === 1 ? [] : [{ event_id: `evt-${number - 1}` }];
  const entry = record(`endpoints/${ENDPOINT}`, {
    action: 'events.raised',
    metadata: { events: [...others, said] },
  });
  return { ...said, endpoint_id: ENDPOINT, first_seen: AT, severity: 'high', entry: entryOf(entry) };
}

function scan(number: number, record: RecordEntry): Item {
  const said = {
    report_sha256: `r${number}`,
    chain: 'c',
    sequence: number,
    root_hash: 'h',
    line_count: 3,
    complete: true,
  };
  const about = { action: 'report.accepted', resource_type: 'report', resource_id: `scan-${number}`, metadata: said };
  return {
    ...said,
    endpoint_id: ENDPOINT,
    scan_id: `scan-${number}`,
    received_at: AT,
    entry: entryOf(record(`endpoints/${ENDPOINT}`, about)),
  };
}

function action(number: number, record: RecordEntry): Item {
  const said = { action_type: 'tool', action_description: `does ${number}`, decision: 'allowed', attested: false };
  const about = { action: 'action.logged', resource_type: 'action', resource_id: `act-${number}`, metadata: said };
  return {
    ...said,
    agent_id: AGENT,
    action_id: `act-${number}`,
    received_at: AT,
    entry: entryOf(record(`agents/${AGENT}`, about)),
  };
}

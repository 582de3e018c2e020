import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { answered, AGENTS as ONE_AGENT, onboarded } from '../agents/http-agent.ts';
import { AFTER, BEFORE, propose, reported, watched } from '../endpoints/pages/scene.ts';
import { addDeadLetter, addSignUp } from '../rows-by-hand.ts';
import { fill, listAll, SERVICES, type Service } from '../service.ts';
import { type Visitor, visitorsOf } from '../web/visitor.ts';

/** Each page of a list shows one row. */
vi.mock('../../../src/platform/web/rows.ts', () => ({ LIST_ROWS: 1, SHORT_ROWS: 1 }));

const DOCUMENTS = ['audit', 'traps', 'endpoints', 'agents', 'alerts', 'keys', 'people', 'administration'];
/** Enough rows for a page that is neither first nor last. */
const FEWEST = 3;
const THREE = [1, 2, 3];
const MOST_PAGES = 200;
const FURTHER = '<p class="further">';

/**
 * Pages with a list: each page's file, and a path with the {names} of `Ids`. `by` is the cursor parameter of a page's
 * second list.
 */
const PAGES: readonly (readonly [file: string, path: string, by?: string])[] = [
  ['accounts/pages/invitations.ts', '/app/people', 'invitations'],
  ['accounts/pages/keys.ts', '/app/keys'],
  ['accounts/pages/people.ts', '/app/people'],
  ['accounts/pages/sign-ups.ts', '/app/people', 'sign_ups'],
  ['administration/pages/pages.ts', '/app/administration'],
  ['agents/pages/actions.ts', '/app/agents/of/{agent_id}/actions'],
  ['agents/pages/agents.ts', '/app/agents'],
  ['agents/pages/kill.ts', '/app/agents/of/{agent_id}/kills'],
  ['agents/pages/trust.ts', '/app/agents/of/{agent_id}/trust'],
  ['audit/pages/checkpoints.ts', '/app/audit/streams/{stream_id}/checkpoints'],
  ['audit/pages/checks.ts', '/app/audit/streams/{stream_id}/verifications'],
  ['audit/pages/entries.ts', '/app/audit/streams/{stream_id}/entries'],
  ['audit/pages/entries.ts', '/app/audit/streams/{stream_id}/entries?resource_type=bucket'],
  ['audit/pages/entries.ts', '/app/audit/entries'],
  ['audit/pages/packages.ts', '/app/audit/streams/{stream_id}/packages'],
  ['audit/pages/streams.ts', '/app/audit'],
  ['endpoints/pages/baseline.ts', '/app/endpoints/baselines/{baseline_id}'],
  ['endpoints/pages/baselines.ts', '/app/endpoints/baselines'],
  ['endpoints/pages/changes.ts', '/app/endpoints/changes'],
  ['endpoints/pages/changes.ts', '/app/endpoints/changes/{change_id}'],
  ['endpoints/pages/events.ts', '/app/endpoints/events'],
  ['endpoints/pages/events.ts', '/app/endpoints/events?endpoint_id={endpoint_id}'],
  ['endpoints/pages/hosts.ts', '/app/endpoints'],
  ['endpoints/pages/packages.ts', '/app/endpoints/packages'],
  ['endpoints/pages/scans.ts', '/app/endpoints/hosts/{endpoint_id}/scans'],
  ['endpoints/pages/windows.ts', '/app/endpoints/change-windows'],
  ['endpoints/pages/windows.ts', '/app/endpoints/change-windows/{window_id}'],
  ['traps/pages/detections.ts', '/app/traps'],
  ['traps/pages/detections.ts', '/app/traps?credential_id={credential_id}'],
  ['traps/pages/traps.ts', '/app/traps/credentials'],
];

test('the table of pages has each file that links to a next page', () => {
  const root = new URL('../../../src/platform/', import.meta.url).pathname;
  const files = globSync(`${root}**/*.ts`).filter((path) =>
    /\b(further|serveOperationList)\(/.test(readFileSync(path, 'utf8')),
  );
  const own = ['operations/list.ts', 'web/components.ts'];
  const found = files.map((path) => relative(root, path)).filter((path) => !own.includes(path));
  expect(found.toSorted()).toEqual([...new Set(PAGES.map(([file]) => file))].toSorted());
});

describe.each(SERVICES)('on %s', { timeout: 120_000 }, (_name, start) => {
  let service: Service;
  let ids: Ids;
  let owner: Visitor;
  beforeAll(async () => {
    service = await start({
      outgoingHosts: ['127.0.0.1:1'],
      rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 1e6 },
    });
    ids = await fillEach(service);
    ({ owner } = await visitorsOf(service, ['owner'], service.postgresUrl));
    await visitorsOf(service, ['operator', 'auditor'], service.postgresUrl);
  }, 120_000);
  afterAll(() => service.close());

  test.each(DOCUMENTS)('each list of the document of %s is walked to its end, an item a page', async (name) => {
    for (const path of await listsOf(service, name)) {
      const list = filled(path, ids);
      const whole = await listAll(service, `${list}?limit=500`);
      expect([list, whole.length >= FEWEST]).toEqual([list, true]);
      expect([list, new Set(whole.map((item) => JSON.stringify(item))).size]).toEqual([list, whole.length]);
      expect([list, await walk(service, list)]).toEqual([list, whole]);
    }
  });

  /** Adds the rows of one page of a list. @returns the address of the next page. */
  const rowsOn = async (path: string, by: string | undefined, rows: string[]): Promise<string | undefined> => {
    const { status, text } = await owner.get(path);
    expect([path, status]).toEqual([path, 200]);
    const end = by === undefined ? text.indexOf(FURTHER) : text.lastIndexOf(FURTHER);
    rows.push(...rowsOf(text.slice(text.lastIndexOf('<tbody>', end), end)));
    return /^.*?<a href="([^"]*)" rel="next">/.exec(text.slice(end))?.[1]?.replaceAll('&amp;', '&');
  };

  test.each(PAGES)('the page of %s, %s, leads to its last item', async (_file, path = '', by) => {
    const rows: string[] = [];
    let next: string | undefined = filled(path, ids);
    for (let page = 1; next !== undefined && page < MOST_PAGES; page++) next = await rowsOn(next, by, rows);
    expect(next).toBeUndefined();
    expect(rows.length).toBeGreaterThanOrEqual(FEWEST);
    expect(new Set(rows).size).toBe(rows.length);
  });
});

interface Ids {
  [name: string]: string;
}

function filled(template: string, ids: Ids): string {
  return template.replace(/\{(\w+)\}/g, (name, id: string) => encodeURIComponent(ids[id] ?? name));
}

function rowsOf(table: string): string[] {
  return [...table.matchAll(/<tr[^>]*>.*?<\/tr>/gs)].map(([row]) => row);
}

/** Returns the paths of a document that take a cursor. */
async function listsOf(service: Service, name: string): Promise<string[]> {
  interface Document {
    servers: [{ url: string }];
    paths: Record<string, { get?: { parameters?: { name: string; in: string }[] } }>;
  }
  const { servers, paths }: Document = (await service.call('GET', `//${name}/openapi.json`)).body;
  return Object.entries(paths)
    .filter(([, { get }]) => get?.parameters?.some((each) => each.in === 'query' && each.name === 'cursor'))
    .map(([path]) => `/${new URL(servers[0].url, service.origin).pathname.replace(/\/$/, '')}${path}`);
}

/** Returns all items of a list, from pages of one item each. */
async function walk(service: Service, list: string): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, text, body } = await service.call('GET', `${list}?limit=1${cursor && `&cursor=${cursor}`}`);
    if (status !== 200) throw new Error(`${list}: ${status} ${text}`);
    expect([list, body.data.length]).toEqual([list, 1]);
    items.push(...body.data);
    cursor = body.next_cursor;
  }
  return items;
}

/** Creates three records of everything that a list shows. */
async function fillEach(service: Service): Promise<Ids> {
  return {
    ...(await ofAudit(service)),
    ...(await ofPeople(service)),
    ...(await ofTraps(service)),
    ...(await ofEndpoints(service)),
    ...(await ofAgents(service)),
  };
}

const make = async (service: Service, path: string, body?: object) =>
  answered(await service.call('POST', path, body), 200, 201, 202);

async function ofAudit(service: Service): Promise<Ids> {
  for (const stream of ['s', 'a', 'b']) await fill(service, stream, 3);
  for (const _ of THREE) {
    await fill(service, 's', 1);
    for (const path of ['verify', 'checkpoints']) await make(service, `/streams/s/${path}`);
    await make(service, '/evidence/generate', { stream_id: 's' });
  }
  return { stream_id: 's' };
}

async function ofPeople(service: Service): Promise<Ids> {
  for (const each of THREE) {
    await make(service, '//keys/', { name: `n${each}`, scopes: ['audit:read'] });
    await make(service, '//people/invitations', { email: `n${each}@example.com`, role: 'auditor' });
    await make(service, '//alerts/channels/', { kind: 'webhook', name: `${each}`, target: 'http://127.0.0.1:1/' });
    await addDeadLetter(service);
    await addSignUp(service);
  }
  return {};
}

async function ofTraps(service: Service): Promise<Ids> {
  const generate = '//traps/api/v1/credentials/generate';
  const made = [];
  for (const label of ['x', 'y', 'z'])
    made.push(await make(service, generate, { credential_type: 'web_bug', plant_location: 'wiki', label }));
  const [{ credential_id, credential }] = made;
  for (const each of THREE) await fetch(credential.url, { headers: { 'user-agent': `Word/${each}` } });
  return { credential_id };
}

async function ofEndpoints(service: Service): Promise<Ids> {
  const machines = [];
  for (const name of ['one', 'two', 'three']) machines.push(await watched(service, name, BEFORE));
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const [first] = machines;
  if (first === undefined) throw new Error('there is no machine');
  for (const machine of machines.slice(1)) await reported(machine, AFTER);
  const windows = [];
  for (const reason of ['x', 'y', 'z'])
    windows.push(await make(service, '//endpoints/change-windows/', { all: true, until, reason }));
  await reported(first, AFTER);
  await reported(first, BEFORE.slice(0, 1));
  await reported(first, AFTER);
  const { baseline_id } = await propose(service, first, 'proposed');
  const { data } = answered(await service.call('GET', '//endpoints/events/?limit=500'), 200);
  const ofWindow = data.find(({ window_id }: { window_id: string | null }) => window_id !== null);
  const quiet = ofWindow?.window_id ?? windows[0].window_id;
  const standing = data.find(({ path, resolved_at }: Ids) => path === '/usr/bin/tool' && resolved_at === null);
  for (const [at, name] of ['Debian', 'Ubuntu', 'ours'].entries())
    await service.sql(`INSERT INTO signed_archives (archive, release_sha256, release_date, signed_by, imported_at)
      VALUES ('${name}', '${`${at}`.repeat(64)}', NULL, '["${name}"]', '2026-11-22T00:00:00.000Z')`);
  return { endpoint_id: first.id, baseline_id, change_id: standing?.change_id ?? '', window_id: quiet };
}

async function ofAgents(service: Service): Promise<Ids> {
  const agents = [];
  for (const name of ['one', 'two', 'three']) agents.push(await onboarded(service, { name }));
  const [first] = agents;
  if (first === undefined) throw new Error('there is no agent');
  for (const each of THREE) await first.did({ action_description: `${randomUUID()} ${each}` });
  for (const reason of ['x', 'y', 'z']) {
    await make(service, `${ONE_AGENT}/${first.id}/kill-switch`, { mode: 'suspend', reason });
    await make(service, `${ONE_AGENT}/${first.id}/reinstate`, { reason });
  }
  return { agent_id: first.id };
}

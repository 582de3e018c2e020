import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { chainOf, type SentEntry } from '../support/chain.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { json, type ReceivedRequest, type Reply } from '../support/fault-server.ts';
import { chooseShortestWaits } from '../support/shortest-waits.ts';

chooseShortestWaits();

/** Services that never finish: slow answers, requests to wait, endless lists. */

/** Limits short enough to wait for. The rate of a body is measured over five times `idle_seconds`. */
const SOURCE = {
  rate: { least_bytes_per_second: 1000 },
  timeouts: {
    connect_seconds: 1,
    headers_seconds: 1,
    idle_seconds: 0.3,
    request_seconds: 1.5,
    download_seconds: 2.5,
    retry_after_seconds: 0.3,
  },
  limits: { pages: 40 },
};
const ENTRIES = chainOf(30);
const STREAM = 'payments/prod';
const open: FalseService[] = [];

afterEach(async () => {
  for (const { directory, close } of open.splice(0)) {
    await close();
    rmSync(directory, { recursive: true });
  }
});

/** @param instead replaces answers; undefined keeps the honest one. */
async function serve(
  instead: (request: ReceivedRequest) => Reply | undefined,
  source: object = SOURCE,
): Promise<FalseService> {
  const service = await startFalseService();
  open.push(service);
  service.streams.set(STREAM, { entries: ENTRIES });
  service.twist = (reply, _path, request) => instead(request) ?? reply;
  writeFileSync(join(service.directory, 'evidence.yaml'), JSON.stringify({ source }));
  return service;
}

/** Exports everything. An endless export fails by the test's timeout. */
const exportAll = (service: FalseService) => service.export({ request: 'R', 'all-time': true });

const ROUTES: [route: string, test: (request: ReceivedRequest) => boolean][] = [
  ['the list of streams', ({ path }) => path.startsWith('/streams/?')],
  ["the service's own check", ({ path }) => path.endsWith('/verify')],
  ['generate', ({ path }) => path.endsWith('/generate')],
  ['the JSON form', ({ path }) => path.endsWith('/json')],
  ['the PDF form', ({ path }) => path.endsWith('/pdf')],
  ['the summary', ({ path }) => path.endsWith('/summary')],
  ['the listing', ({ path }) => path.startsWith('/entries/')],
];

/** Yields a byte per third of the idle limit, forever. */
async function* drip(begin: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(begin);
  for (;;) {
    await sleep(100);
    yield Buffer.from(' ');
  }
}

describe.each(ROUTES)('%s', (route, isOf) => {
  // A failed check or listing costs only the comparison with it.
  const code = /check|listing/.test(route) ? 0 : 3;

  test('drips', async () => {
    const begin = route.includes('PDF') ? '%PDF-1.7 ' : '{';
    const service = await serve((request) => (isOf(request) ? { body: drip(begin) } : undefined));
    expect((await exportAll(service)).code).toBe(code);
  });

  test('drips as a refusal', async () => {
    const service = await serve((request) => (isOf(request) ? { status: 500, body: drip('{') } : undefined));
    expect((await exportAll(service)).code).toBe(code);
  });

  test('asks for a wait of a month', async () => {
    const later = { status: 429, headers: { 'retry-after': '2592000' } };
    const service = await serve((request) => (isOf(request) ? later : undefined));
    expect((await exportAll(service)).code).toBe(code);
    expect(service.requests.filter(isOf)).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  const inThreeWeeks = new Date(Date.now() + 21 * 86_400_000).toUTCString();
  test.each<[value: string, said: RegExp, requests: number]>([
    ['1', /requests a wait until 2/, 1],
    ['86400', /requests a wait until 2\S+Z \(Retry-After\)\nRun the same command again after 2/, 1],
    [inThreeWeeks, /requests a wait until 2/, 1],
    ['2147484', /requests a wait until 2/, 1],
    ['99999999999', /of more than a year/, 1],
    ['9'.repeat(30), /of more than a year/, 1],
    ['Fri, 01 Jan 12026 00:00:00 GMT', /of more than a year/, 1],
    ['-5', /answered 503/, 4],
    ['0', /answered 503/, 4],
    ['1e9', /answered 503/, 4],
    ['Thu, 01 Jan 1970 00:00:00 GMT', /answered 503/, 4],
  ])('%s', async (value, said, requests) => {
    const service = await serve(() => ({ status: 503, headers: { 'retry-after': value } }));
    const { code, said: stderr } = await exportAll(service);
    expect([code, service.requests.length]).toEqual([3, requests]);
    expect(stderr).toMatch(said);
  });
});

describe('a list that goes on', () => {
  const far = new Date(Date.now() + 3_600_000).toISOString();
  const past = ENTRIES.at(-1)?.timestamp ?? '';
  const listed = (sequence: number, timestamp: string): Partial<SentEntry> =>
    ENTRIES[sequence - 1] ?? { stream_id: STREAM, sequence, hash: 'a'.repeat(64), timestamp };
  /** Serves a listing with this many entries per page, and with endless pages. */
  const listing = (size: number, timestamp: string) => {
    let next = 1;
    return ({ path }: ReceivedRequest): Reply | undefined => {
      if (!path.startsWith('/entries/')) return undefined;
      const data = Array.from({ length: size }, () => listed(next++, timestamp));
      return json({ data, next_cursor: `c${next}` });
    };
  };

  test.each<[what: string, size: number, timestamp: string, requests: number, basis: RegExp]>([
    ['of entries of the past', 10, past, 17, /could not be listed.* lists more than 160 entries/],
    ['of one of them a page', 1, past, 40, /could not be listed.* goes on after 40 pages/],
    ['of later ones', 10, far, 13, /own listing has the same 30 entries/],
    ['of later ones, one a page', 1, far, 40, /could not be listed.* goes on after 40 pages/],
  ])('the listing, %s', async (_what, size, timestamp, requests, basis) => {
    const service = await serve(listing(size, timestamp));
    const printed = await exportAll(service);
    const asked = service.requests.filter(({ path }) => path.startsWith('/entries/'));
    expect([printed.code, asked.length]).toEqual([0, requests]);
    expect(printed.document.streams[0].claims.completeness.basis).toMatch(basis);
    expect((await service.verify()).code).toBe(0);
  });

  test('the listing, of pages outside of the period', async () => {
    const reply = listing(10, '2020-01-01T00:00:00Z');
    const service = await serve(reply);
    const { document } = await service.export({ period: '2026-10' });
    expect(document.streams[0].claims.completeness).toMatchObject({
      reason: expect.stringContaining('could not be listed'),
    });
    expect(service.requests.length).toBeLessThan(30);
  });

  test.each<[what: string, data: () => object[], said: RegExp]>([
    [
      'of one that was not asked for, again and again',
      () => ENTRIES.slice(0, 1),
      /lists entry 1, but entries after 20/,
    ],
    ['of nothing', () => [], /the first 20 pages of the entries after 20 are empty/],
  ])('the entries that no export has, %s', async (_what, data, failure) => {
    const service = await serve(() => undefined);
    service.streams.set(STREAM, { entries: ENTRIES.slice(0, 20) });
    expect((await service.export({ period: '2026-10' })).code).toBe(0);
    service.streams.set(STREAM, { entries: ENTRIES, packaged: (entries) => entries.slice(0, 20) });
    let cursor = 0;
    service.twist = (reply, _path, { path }) =>
      path.includes('after_sequence') ? json({ data: data(), next_cursor: `c${cursor++}` }) : reply;
    expect((await service.export({ period: '2026-10', revise: true })).code).toBe(1);
    expect(cursor).toBeLessThanOrEqual(20);
    const bundles = execFileSync(
      'sh',
      ['-c', 'for bundle in evidence-archive/runs/*/streams/*.zip; do unzip -p "$bundle"; done'],
      {
        cwd: service.directory,
        encoding: 'latin1',
      },
    );
    expect(bundles).toMatch(failure);
  });

  const UNCHECKED = { head_hash: null, verified: null, last_checked_at: null };
  let count = 0;
  test.each<[what: string, data: () => object[], said: RegExp]>([
    ['one a page', () => [{ stream_id: `s${count++}`, entry_count: 0, head_sequence: 0, ...UNCHECKED }], /40 pages/],
    ['empty pages', () => [], /40 pages/],
  ])('of streams, %s', async (_what, data, said) => {
    const service = await serve(({ path }) =>
      path.startsWith('/streams/?') ? json({ data: data(), next_cursor: `c${count++}` }) : undefined,
    );
    const { code, said: stderr } = await exportAll(service);
    expect([code, service.requests.length]).toEqual([3, 40]);
    expect(stderr).toMatch(said);
    expect(stderr).toContain('source.limits.pages');
  });

  test('of streams, of which one has a record of megabytes: it is that stream alone', async () => {
    const service = await serve(() => undefined);
    service.streams.set('large', { entries: ENTRIES, stated: { note: 'x'.repeat(2 ** 20) } });
    const { code, said } = await exportAll(service);
    expect(code).toBe(3);
    expect(said).toBe('');
    const asked = service.requests.filter(({ path }) => path.endsWith('/generate'));
    expect(asked.map(({ body }) => JSON.parse(body).stream_id)).toEqual([STREAM]);
  });
});

describe('an answer that can be read in two ways is drift', () => {
  /** Repeats the honest answer with one member twice. */
  const twice = (isOf: (request: ReceivedRequest) => boolean, name: string, other: unknown, honest: object) =>
    serve((request) => {
      if (!isOf(request)) return undefined;
      const text = JSON.stringify(honest);
      const doubled = text.replace(`"${name}":`, `"${name}":${JSON.stringify(other)},"${name}":`);
      expect(doubled).not.toBe(text);
      return { headers: { 'content-type': 'application/json' }, body: doubled };
    });
  const routeOf = (route: string) => ROUTES.find(([name]) => name === route)?.[1] ?? (() => false);
  const head = ENTRIES.at(-1)?.hash;
  const stream = { stream_id: STREAM, entry_count: 30, head_sequence: 30, head_hash: head, verified: true };
  const streams = { data: [{ ...stream, last_checked_at: null }], next_cursor: null };
  const entries = { data: ENTRIES, next_cursor: null };
  const check = { verified: true, checked_at: '2026-11-01T00:00:00Z', failures: [] };
  const made = { package_id: 'pkg-1', stream_id: STREAM, status: 'ready' };

  test("the service's own check: no verdict of it is taken", async () => {
    const service = await twice(routeOf("the service's own check"), 'verified', false, check);
    const { document } = await exportAll(service);
    expect(document.streams[0].service).toMatchObject({ verified: null, failed_sequences: [] });
  });

  test.each<[what: string, route: string, name: string, other: unknown, honest: object, code: number]>([
    ['the list of streams', 'the list of streams', 'data', [], streams, 2],
    ['its cursor', 'the list of streams', 'next_cursor', 'c', streams, 2],
    ['the count of a stream', 'the list of streams', 'entry_count', 3, streams, 2],
    ['the id of a stream', 'the list of streams', 'stream_id', 'other', streams, 2],
    ['the id of a package', 'generate', 'package_id', 'pkg-9', made, 3],
    ['its status', 'generate', 'status', 'pending', made, 3],
    ['the listing', 'the listing', 'data', [], entries, 0],
    ['the digest of a listed entry', 'the listing', 'hash', 'b'.repeat(64), entries, 0],
  ])('%s', async (_what, route, name, other, honest, code) => {
    const service = await twice(routeOf(route), name, other, honest);
    const printed = await exportAll(service);
    expect(printed.code).toBe(code);
    expect(JSON.stringify(printed.document) + printed.said).toMatch(/ambiguous JSON/);
  });
});

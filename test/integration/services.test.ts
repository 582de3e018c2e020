import { afterEach, describe, expect, test } from 'vitest';
import { readPdfFacts } from '../../src/verifier/pdf-text/pdf.ts';
import { camel } from '../support/services/camel.ts';
import { fastApi } from '../support/services/fastapi.ts';
import { EMPTY_STREAM, MAIN_LENGTH, MAIN_STREAM, OTHER_STREAM } from '../support/services/history.ts';
import type { InventedService, ServiceKind } from '../support/services/invented-service.ts';
import { results } from '../support/services/results.ts';
import { KINDS, type Kind } from '../support/services/tampering.ts';
import { CLIENTS, type Client, type Json } from '../support/services/told-clients.ts';
import { inTurn, someRows } from '../support/some-rows.ts';

const API_KEY = 'sk_of_an_invented_service';

const running: InventedService[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

/** Every tampering, on one service after another. */
const TAMPERED = someRows(inTurn(KINDS, CLIENTS), ([kind]) => kind);

describe.each(CLIENTS)('a service of %s', (_style, client) => {
  const start = async (tampering?: Kind) => {
    const options = tampering === undefined ? { apiKey: API_KEY } : { apiKey: API_KEY, tampering };
    const service = await client.kind.start(options);
    running.push(service);
    return service;
  };

  test('answers nobody without the key, and records who asked', async () => {
    const service = await start();
    const paths = ['/streams/', '/entries/', '/stats/', '/evidence/x/json'];
    for (const path of paths) {
      const answer = await fetch(`${service.auditUrl}${path}`, { headers: { authorization: 'Bearer sk_other' } });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect(
      service.requests.map(({ method, path, status, headers }) => [method, path, status, headers.authorization]),
    ).toEqual(paths.map((path) => ['GET', path, 401, 'Bearer sk_other']));
  });

  test('lists three streams, one of them empty, and their entries on several pages, as they are in the packages', async () => {
    const service = await start();
    const streams = await listAll(service, client, '/streams/');
    expect(streams.items).toHaveLength(3);
    const lengths = await Promise.all(
      [MAIN_STREAM, OTHER_STREAM, EMPTY_STREAM].map(async (stream) => {
        const { texts, pages } = await listAll(service, client, `/entries/?${client.query(stream)}`);
        expect(inOrder(texts, client)).toEqual(inOrder(textsOf(await download(service, client, stream)), client));
        return [texts.length, stream === MAIN_STREAM && pages > 1];
      }),
    );
    expect(lengths).toEqual([
      [MAIN_LENGTH, true],
      [23, false],
      [0, false],
    ]);
  });

  test('gives a half-open period alike in lists and packages', async () => {
    const service = await start();
    const times = textsOf(await download(service, client, MAIN_STREAM)).map(timeOf);
    const bounds = ['2026-10-01T00:00:00.000Z', '2026-10-08T00:00:00.000Z'] as const;
    const inside = times.filter((time) => time >= Date.parse(bounds[0]) && time < Date.parse(bounds[1]));
    expect(inside.length).toBeGreaterThan(20);
    const packaged = textsOf(await download(service, client, MAIN_STREAM, ...bounds)).map(timeOf);
    const { texts } = await listAll(service, client, `/entries/?${client.query(MAIN_STREAM, ...bounds)}`);
    expect(packaged).toEqual(inside);
    expect(texts.map(timeOf).toSorted()).toEqual(inside.toSorted());
    // The twentieth entry has a whole second as its time: a period that starts then includes it, and a period that ends
    // then does not.
    const [twentieth = 0] = times.slice(19);
    const at = new Date(twentieth).toISOString();
    const from = textsOf(await download(service, client, MAIN_STREAM, at));
    const until = textsOf(await download(service, client, MAIN_STREAM, undefined, at));
    expect([twentieth % 1000, from.length, until.length]).toEqual([0, MAIN_LENGTH - 19, 19]);
  });

  test('has a PDF that states the package, and a summary', async () => {
    const service = await start();
    const id = await generate(service, client, MAIN_STREAM);
    const pdf = await poll(service, `/evidence/${id}/pdf`);
    const { statements } = await readPdfFacts(new Uint8Array(await pdf.arrayBuffer()));
    expect(statements).toEqual(
      expect.arrayContaining([
        { fact: 'package', value: id, page: 1 },
        { fact: 'stream', value: MAIN_STREAM, page: 1 },
        { fact: 'count', value: String(MAIN_LENGTH), page: 1 },
      ]),
    );
    const summary = await poll(service, `/evidence/${id}/summary`);
    expect(await summary.text()).toMatch(new RegExp(`${id}[^]*\\b${MAIN_LENGTH}\\b`));
  });

  const tampered = TAMPERED.filter(([, [, one]]) => one === client).map(([kind]) => kind);
  test.each(tampered)('plays "%s" as its table says', async (kind) => {
    const service = await start(kind);
    const text = await (await poll(service, `/evidence/${await generate(service, client, MAIN_STREAM)}/json`)).text();
    const { claims, findings } = client.kind.expected[kind];
    const numbersOf = (code: string) => findings.filter((one) => one.code === code).map(({ sequence }) => sequence);
    if (kind === 'cut-off') {
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
      return;
    }
    const evidence = JSON.parse(text);
    const links = client.entries(evidence).map(client.link);
    const texts = textsOf(text);
    expect(texts).toHaveLength(links.length);
    const computed = client.digests(texts, service.sealKeys);
    const numbers = links.map(([number]) => number);
    const wrong = numbers.filter((_, at) => computed[at] !== null && computed[at] !== links[at]?.[2]);
    // A digest of ambiguous JSON proves nothing.
    const ambiguous = numbersOf('content/ambiguous-json');
    expect(texts.filter((one) => one.split('"actor":').length !== 2)).toHaveLength(ambiguous.length);
    expect(wrong.filter((number) => !ambiguous.includes(number))).toEqual(numbersOf('content/mismatch'));
    const seals = client.entries(evidence).map((entry) => client.seal?.(entry, service.sealKeys));
    const badSeals = numbers.filter((_, at) => seals[at]?.ours != null && seals[at]?.ours !== seals[at]?.stated);
    expect(badSeals).toEqual(numbersOf('seal/mismatch'));
    const withoutKey = numbers.filter((_, at) => computed[at] === null || seals[at]?.ours === null);
    expect(withoutKey).toEqual(numbersOf('seal/unknown-key'));
    const broken = numbers.filter((_, at) => at > 0 && links[at]?.[1] !== links[at - 1]?.[2]);
    if (claims['order'] !== 'refuted') expect(broken).toEqual([]);
    const backwards = numbers.filter((number, at) => number === at + 1 && timeAt(texts, at) < timeAt(texts, at - 1));
    expect(backwards).toEqual(numbersOf('order/clock-backwards'));
    const foreign = numbers.filter((_, at) => !texts[at]?.includes(`:"${MAIN_STREAM}",`));
    expect(foreign).toEqual(numbersOf('order/foreign-entry'));
    expect(text.includes('mallory')).toBe(['edited', 'rewritten', 'duplicate-key'].includes(kind));
    if (kind !== 'no-genesis') {
      const isFirst = links[0]?.[1] === client.genesis;
      expect(isFirst).toBe(!numbersOf('order/genesis').includes(1) && kind !== 'empty');
    }
    for (const number of numbersOf('order/broken-link')) expect(broken).toContain(number);
    expect(numbers).toEqual(NUMBERS[kind] ?? upTo(MAIN_LENGTH));
    const stated = kind === 'truncated' ? MAIN_LENGTH : links.length;
    expect(client.stated(evidence).count).toBe(stated);
    expect(client.stated(evidence).head === (links.at(-1)?.[2] ?? null)).toBe(kind !== 'truncated');
    const listed = await listAll(service, client, `/entries/?${client.query(MAIN_STREAM)}`);
    // Newest first is the same list reversed.
    expect([texts, texts.toReversed()]).toContainEqual(listed.texts);
    if (client.verdict === null) return;
    const refuted = ['order', 'content', 'seal'].some((claim) => claims[claim] === 'refuted');
    const verdict = await ask(service, `/streams/${MAIN_STREAM}/verify`, { method: 'POST' });
    expect(((await verdict.json()) as Json)[client.verdict]).toBe(!refuted);
  });
});

/** Returns the numbers up to the last one, for a kind that does not list each number once. */
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const NUMBERS: Partial<Record<Kind, number[]>> = {
  dropped: upTo(MAIN_LENGTH).toSpliced(29, 1),
  'dropped-range': upTo(MAIN_LENGTH).toSpliced(29, 5),
  swapped: upTo(MAIN_LENGTH).toSpliced(29, 2, 31, 30),
  duplicated: upTo(MAIN_LENGTH).toSpliced(29, 0, 30),
  forked: upTo(MAIN_LENGTH).toSpliced(29, 0, 30),
  'no-genesis': upTo(MAIN_LENGTH).slice(3),
  truncated: upTo(MAIN_LENGTH - 10),
  empty: [],
  single: [1],
};

describe('what only one of them does', () => {
  const started = async (kind: ServiceKind) => {
    const service = await kind.start({ apiKey: API_KEY });
    running.push(service);
    return service;
  };

  test('FastAPI: its description, the redirect, and its errors', async () => {
    const service = await started(fastApi);
    const description = (await (await fetch(`${service.auditUrl}/openapi.json`)).json()) as Json;
    expect([description.openapi, Object.keys(description.paths)]).toEqual([
      '3.1.0',
      expect.arrayContaining(['/streams/', '/streams/{stream_id}/verify', '/entries/', '/evidence/{package_id}/json']),
    ]);
    for (const [, name] of JSON.stringify(description).matchAll(/#\/components\/schemas\/(\w+)/g))
      expect(Object.keys(description.components.schemas)).toContain(name);
    const redirect = await ask(service, '/streams?limit=1', { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([307, `${service.auditUrl}/streams/?limit=1`]);
    const tooMany = await ask(service, '/entries/?limit=201');
    expect([tooMany.status, await tooMany.json()]).toMatchObject([422, { detail: [{ loc: ['query', 'limit'] }] }]);
    const entry = JSON.parse((await listAll(service, CLIENTS[0]?.[1] as Client, '/entries/')).texts[0] ?? '');
    expect(Object.keys(description.components.schemas.EntryOut.properties).toSorted()).toEqual(
      Object.keys(entry).toSorted(),
    );
  });

  test('camelCase: a package is not ready at once, and there is no description', async () => {
    const service = await started(camel);
    const id = await generate(service, CLIENTS[1]?.[1] as Client, MAIN_STREAM);
    const answers = [];
    for (let poll = 0; poll < 4; poll++) answers.push(await ask(service, `/evidence/${id}/json`));
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [409, '0'],
      [425, '0'],
      [425, '0'],
      [200, null],
    ]);
    expect((await ask(service, '/openapi.json')).status).toBe(404);
  });

  test('results: newest first, and no Verify operation', async () => {
    const service = await started(results);
    const page = (await (await ask(service, `/entries/?stream=${MAIN_STREAM}`)).json()) as Json;
    expect([page.count, page.results[0].position, page.previous]).toEqual([MAIN_LENGTH, MAIN_LENGTH, null]);
    expect((await ask(service, `/streams/${MAIN_STREAM}/verify`, { method: 'POST' })).status).toBe(404);
  });
});

function ask(service: InventedService, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(new URL(path, service.auditUrl), { ...init, headers: { authorization: `Bearer ${API_KEY}` } });
}

async function poll(service: InventedService, path: string): Promise<Response> {
  for (let tries = 0; tries < 10; tries++) {
    const answer = await ask(service, path);
    if (answer.status === 200) return answer;
    expect([409, 425]).toContain(answer.status);
  }
  throw new Error(`${path} does not get ready`);
}

async function generate(
  service: InventedService,
  client: Client,
  ...scope: [string, string?, string?]
): Promise<string> {
  const answer = await ask(service, '/evidence/generate', {
    method: 'POST',
    body: JSON.stringify(client.generateBody(...scope)),
  });
  expect(answer.status).toBeLessThan(300);
  return client.packageId(await answer.json());
}

/** Downloads the JSON form. */
async function download(
  service: InventedService,
  client: Client,
  ...scope: [string, string?, string?]
): Promise<string> {
  return (await poll(service, `/evidence/${await generate(service, client, ...scope)}/json`)).text();
}

async function listAll(
  service: InventedService,
  client: Client,
  path: string,
): Promise<{ texts: string[]; items: Json[]; pages: number }> {
  const texts: string[] = [];
  const items: Json[] = [];
  let pages = 0;
  for (let next: string | null = path; next !== null; ) {
    const url: URL = new URL(next, service.auditUrl);
    const text = await (await ask(service, url.href)).text();
    const page = JSON.parse(text);
    texts.push(...textsOf(text));
    items.push(...client.items(page));
    pages++;
    next = client.next(url, page);
  }
  return { texts, items, pages };
}

const ENTRY = /^\{"(?:id|entryId|uid)":"[^"]*","stream(?:_id|Id)?":"[^"]*","(?:seq|sequenceNumber|position)":/;

/** Returns each entry's text as it was sent. */
function textsOf(text: string): string[] {
  const found: string[] = [];
  const open: number[] = [];
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{') open.push(at);
    else if (character === '}') {
      const piece = text.slice(open.pop(), at + 1);
      if (ENTRY.test(piece)) found.push(piece);
    }
  }
  return found;
}

function inOrder(texts: string[], client: Client): string[] {
  const number = (text: string) => client.link(JSON.parse(text))[0];
  return texts.toSorted((one, other) => number(one) - number(other));
}

function timeAt(texts: string[], at: number): number {
  const text = texts[at];
  return text === undefined ? 0 : timeOf(text);
}

/** Parses a time into milliseconds. */
function timeOf(text: string): number {
  const { ts, recordedAt, created } = JSON.parse(text);
  const time: string = ts ?? recordedAt ?? created;
  return Date.parse(time.endsWith('Z') ? time : `${time}Z`);
}

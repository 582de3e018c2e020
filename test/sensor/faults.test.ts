import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SensorClient } from '../../src/sensor/client.ts';
import { reportHeadOf, reportSha256 } from '../../src/sensor/report/head.ts';
import { runRound } from '../../src/sensor/round.ts';
import { type Service, startService } from '../platform/service.ts';
import { type Watched, watched } from './watched.ts';

let service: Service;
let machine: Watched;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(async () => {
  machine = await watched(service);
  put('tool', 'content');
});

function put(name: string, content: string): void {
  writeFileSync(join(machine.root, name), content);
}

/** Creates links, the cheapest entries. */
function putMany(count: number): void {
  for (let at = 0; at < count; at++) symlinkSync('a target that is not short', join(machine.root, `name-${at}`));
}

/** Expects consecutive sequences, each once, no event about the chain, and no remains of a report. */
async function expectWhole(reports: number): Promise<void> {
  expect((await machine.reports()).map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(
    Array.from({ length: reports }, (_, at) => at + 1),
  );
  expect(await machine.types()).toEqual([]);
  expect(readdirSync(machine.folder).sort()).toEqual(['chain.json', 'key.pem']);
}

/** Fault of a request: before it reaches the service, or in the answer. */
type Fault = 'answer lost' | { status: number; headers?: Record<string, string>; body?: string };

const relays: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of relays.splice(0)) await close();
});

/** Starts a proxy for the service. @param fault of a request, by its number among requests of its kind, from 1. */
async function through(fault: (path: string, place: number) => Fault | undefined | Promise<Fault | undefined>) {
  const places = new Map<string, number>();
  const seen: { path: string; body: Record<string, unknown>; bytes: number }[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const body = await bytesOf(incoming);
    const path = url.replace('/endpoints', '');
    const place = (places.get(path) ?? 0) + 1;
    places.set(path, place);
    seen.push({ path, body: body.length === 0 ? {} : JSON.parse(body.toString()), bytes: body.length });
    const found = await fault(path, place);
    if (typeof found === 'object') {
      outgoing.writeHead(found.status, found.headers ?? {}).end(found.body ?? '');
      return;
    }
    const onward = httpRequest(`${service.origin}${url}`, { method, headers }, async (answer) => {
      const text = await bytesOf(answer);
      if (found === 'answer lost') outgoing.destroy();
      else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
    });
    onward.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  relays.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/endpoints`, seen };
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('the service', () => {
  const REPORT = '/scans/report';
  test.each<[string, (path: string, place: number) => Fault | undefined, number[]]>([
    ['is restarted', (_path, place) => (place === 1 ? { status: 503 } : undefined), []],
    [
      'asks for patience',
      (_path, place) => (place === 1 ? { status: 429, headers: { 'retry-after': '7' } } : undefined),
      [7000, 7000, 7000],
    ],
    ['has its answers lost', (_path, place) => (place === 1 ? 'answer lost' : undefined), []],
  ])('%s: it is asked again, and each report arrives once', async (_name, fault, waits) => {
    const { url } = await through(fault);
    await machine.round({ url });
    expect(machine.waits.length).toBeGreaterThanOrEqual(3);
    if (waits.length > 0) expect(machine.waits.slice(0, 3)).toEqual(waits);
    await machine.round();
    await expectWhole(2);
  });

  test('loses its answer for good: the report is found to be there, and the next one goes on', async () => {
    const { url } = await through((path) => (path === REPORT ? 'answer lost' : undefined));
    await expect(machine.round({ url })).rejects.toMatchObject({ code: 'unreachable' });
    expect(readdirSync(machine.folder).filter((name) => name.startsWith('report-'))).toEqual(['report-1.json']);
    put('tool', 'changed');
    await machine.round();
    await expectWhole(2);
  });

  test('was away for hours: what was signed is sent as it was, then a new scan, and its clock is not in doubt', async () => {
    const { url, seen } = await through((path) => (path === REPORT ? { status: 502 } : undefined));
    machine.now = () => new Date(Date.now() - 5 * 3_600_000);
    await expect(machine.round({ url })).rejects.toMatchObject({ code: 'service' });
    const signed = new Set(seen.filter(({ path }) => path === REPORT).map(({ body }) => body['signature']));
    machine.now = () => new Date();
    const onward = await through(() => undefined);
    await machine.round({ url: onward.url });
    expect(signed.size).toBe(1);
    expect(onward.seen.find(({ path }) => path === REPORT)?.body['signature']).toBe([...signed][0]);
    await expectWhole(2);
  });

  test('is asked once for each part that it has not got', async () => {
    putMany(4001);
    const { url, seen } = await through((path, place) => (path === REPORT && place === 2 ? 'answer lost' : undefined));
    await machine.round({ url });
    const parts = seen.filter(({ path }) => path === REPORT).map(({ body }) => body['part']);
    expect(parts).toEqual([1, 2, 2, 3]);
    const lines = seen.flatMap(({ body }) => (body['lines'] as unknown[] | undefined)?.length ?? []);
    expect(lines).toEqual([2000, 2000, 2000, 2]);
    await expectWhole(1);
  });

  test('forgets the parts that it had: they are sent again', async () => {
    putMany(4001);
    const { url, seen } = await through(async (path, place) => {
      if (path === REPORT && place === 3) await service.sql('DELETE FROM staged_parts; DELETE FROM staged_sets;');
      return undefined;
    });
    await machine.round({ url });
    expect(seen.filter(({ path }) => path === REPORT).map(({ body }) => body['part'])).toEqual([1, 2, 3, 1, 2, 3]);
    await expectWhole(1);
  });

  test('gets an unchanged scan in less than 2 KB, without its lines', async () => {
    putMany(2001);
    await machine.round();
    const { url, seen } = await through(() => undefined);
    await machine.round({ url });
    const [report, more] = seen.filter(({ path }) => path === REPORT);
    expect([report?.body['lines'], report?.body['parts'], more]).toEqual([[], 2, undefined]);
    expect(report?.bytes).toBeLessThan(2048);
    await expectWhole(2);
  });

  test('does not know the lines after all: they are sent, and it is the same report', async () => {
    await machine.round();
    const problem = JSON.stringify({ code: 'lines_needed' });
    const { url, seen } = await through((path, place) =>
      path === REPORT && place === 1 ? { status: 409, body: problem } : undefined,
    );
    await machine.round({ url });
    const sent = seen.filter(({ path }) => path === REPORT).map(({ body }) => body);
    expect(sent.map(({ lines }) => (lines as unknown[]).length)).toEqual([0, 1]);
    expect(new Set(sent.map((body) => reportSha256(reportHeadOf(body as never)))).size).toBe(1);
    await expectWhole(2);
  });

  test('refuses a report for good: another is made for its sequence', async () => {
    const body = JSON.stringify({ code: 'root_differs', detail: 'the root is another' });
    const { url } = await through((path) => (path === REPORT ? { status: 422, body } : undefined));
    await expect(machine.round({ url })).rejects.toMatchObject({
      code: 'service',
      message: 'report 1 was not accepted: 422 (root_differs: the root is another)',
    });
    await machine.round();
    await expectWhole(1);
  });

  test.each([404, 400, 302])('is not what answers with %i: the report is kept', async (status) => {
    const { url } = await through((path) => (path === REPORT ? { status } : undefined));
    await expect(machine.round({ url })).rejects.toMatchObject({ code: 'service' });
    expect(existsSync(join(machine.folder, 'report-1.json'))).toBe(true);
    await machine.round();
    await expectWhole(2);
  });

  test.each(['<html>', '{}', '{"endpoint_id":1}', '[]'])('is not what answers %s', async (body) => {
    const { url } = await through(() => ({ status: 200, body }));
    await expect(machine.round({ url })).rejects.toMatchObject({
      code: 'service',
      nextStep: expect.stringMatching(/--url/),
    });
  });

  test('does not take the token: nothing is scanned', async () => {
    const { url } = await through(() => ({ status: 401 }));
    await expect(machine.round({ url })).rejects.toMatchObject({ code: 'refused' });
    expect(readdirSync(machine.folder)).toEqual(['key.pem']);
  });
});

describe('a crash', () => {
  class Crash extends Error {}

  /** Returns a client that crashes at a request, before sending it or after its answer. */
  function crashing(path: string, when: 'before' | 'after'): SensorClient {
    const client = machine.client();
    return {
      async ask(asked, body) {
        if (asked === path && when === 'before') throw new Crash();
        const answer = await client.ask(asked, body);
        if (asked === path) throw new Crash();
        return answer;
      },
      [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
    };
  }

  test.each([
    ['/sensor/settings', 'after', 1],
    ['/sensor/key', 'before', 1],
    ['/sensor/key', 'after', 1],
    ['/scans/report', 'before', 2],
    ['/scans/report', 'after', 2],
  ] as const)('at %s, %s: nothing is lost, and nothing reported twice', async (path, when, reports) => {
    await using client = crashing(path, when);
    await expect(runRound({ ...machine.deps(), service: client })).rejects.toThrow(Crash);
    put('tool', 'changed meanwhile');
    await machine.round();
    await expectWhole(reports);
  });

  test('between the answer that is written down and the report that is removed', async () => {
    const copy = join(machine.folder, '..', 'copy');
    await using client = crashing('/scans/report', 'before');
    await expect(runRound({ ...machine.deps(), service: client })).rejects.toThrow(Crash);
    cpSync(machine.folder, copy, { recursive: true });
    await machine.round();
    for (const name of readdirSync(copy).filter((one) => /^(report|lines)-/.test(one)))
      cpSync(join(copy, name), join(machine.folder, name));
    await machine.round();
    await expectWhole(3);
  });

  test('while a scan is written: what is left of it is removed', async () => {
    await machine.round();
    writeFileSync(join(machine.folder, 'lines-of-a-crash.ndjson'), '{"half');
    writeFileSync(join(machine.folder, '.sensor-1.tmp'), '{"half');
    await machine.round();
    await expectWhole(2);
  });

  test('that took the lines of a report with it: the report is made anew', async () => {
    await using client = crashing('/scans/report', 'before');
    await expect(runRound({ ...machine.deps(), service: client })).rejects.toThrow(Crash);
    const [lines = ''] = readdirSync(machine.folder).filter((name) => name.startsWith('lines-'));
    rmSync(join(machine.folder, lines));
    await machine.round();
    await expectWhole(1);
  });
});

describe('the folder of a sensor', () => {
  test('has its key, for its user alone', async () => {
    await machine.round();
    expect(statSync(machine.folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(machine.folder))
      expect([name, statSync(join(machine.folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(readFileSync(join(machine.folder, 'key.pem'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  test.each([
    ['key.pem', 'no key'],
    ['chain.json', '{"format":"evidence-endpoint-chain/1"'],
    ['chain.json', '{"format":"evidence-endpoint-chain/2"}'],
    ['report-9.json', 'half'],
  ])('is not used where %s is damaged', async (name, text) => {
    await machine.round();
    writeFileSync(join(machine.folder, name), text);
    await expect(machine.round()).rejects.toMatchObject({ code: 'unreadable', message: expect.stringContaining(name) });
    expect(await machine.reports()).toHaveLength(1);
  });

  test('of another endpoint is not used', async () => {
    const other = await watched(service);
    await machine.round();
    await expect(other.round({ folder: machine.folder })).rejects.toMatchObject({ code: 'config' });
  });

  test('is worked with by one sensor: of two, one reports', async () => {
    await machine.round();
    const rounds = await Promise.allSettled([machine.round(), machine.round()]);
    const refused = rounds.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeLessThan(2);
    for (const outcome of refused) expect(outcome).toMatchObject({ reason: { name: 'EvidenceError' } });
    await machine.round();
    expect(await machine.types()).toEqual([]);
    const sequences = (await machine.reports()).map(({ sequence }) => sequence);
    expect(new Set(sequences).size).toBe(sequences.length);
  });
});

describe('the chain', () => {
  const copyOf = (folder: string, name: string) => {
    const copy = join(folder, '..', name);
    cpSync(folder, copy, { recursive: true });
    return copy;
  };

  test('of a clone and its original is seen to be forked', async () => {
    await machine.round();
    const clone = copyOf(machine.folder, 'clone');
    await machine.round();
    await expect(machine.round({ folder: clone })).rejects.toMatchObject({ code: 'chain' });
    expect(await machine.types()).toEqual(['snapshot_restored']);
    await machine.round();
    expect(await machine.types()).toEqual(['report_fork', 'snapshot_restored']);
  });

  test('of a machine that was set back ends, until a person restarts it with a reason', async () => {
    await machine.round();
    const snapshot = copyOf(machine.folder, 'snapshot');
    await machine.round();
    rmSync(machine.folder, { recursive: true });
    cpSync(snapshot, machine.folder, { recursive: true });
    await expect(machine.round()).rejects.toMatchObject({
      code: 'chain',
      nextStep: expect.stringMatching(/restart the endpoint/),
    });
    await expect(machine.round()).rejects.toMatchObject({ code: 'chain' });
    expect(await machine.types()).toEqual(['snapshot_restored']);
    await machine.post(`/hosts/${machine.id}/restart`, { reason: 'set back on purpose' });
    await machine.round();
    await machine.round();
    expect(await machine.types()).toEqual([]);
    expect(readdirSync(machine.folder).sort()).toEqual(['chain.json', 'key.pem']);
  });

  test('is not gone on with by a sensor whose folder was lost', async () => {
    await machine.round();
    rmSync(machine.folder, { recursive: true });
    await expect(machine.round()).rejects.toMatchObject({ code: 'chain' });
    expect(await machine.types()).toEqual(['key_changed']);
    await machine.post(`/hosts/${machine.id}/restart`, { reason: 'set up anew' });
    await machine.round();
    expect(await machine.types()).toEqual([]);
  });
});

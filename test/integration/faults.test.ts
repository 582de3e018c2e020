import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chainOf } from '../support/chain.ts';
import { json, type Reply, startFaultServer } from '../support/fault-server.ts';
import { asFile, bytesOf, type Fault, packageFor, partFrom, type Step } from '../support/services/faulty.ts';
import {
  doneStream,
  exportFrom,
  fileIn,
  namesIn,
  type RunDocument,
  startFaulty,
} from '../support/services/faulty-export.ts';
import {
  dripping,
  gzipBomb,
  gzipped,
  lengthOf,
  parse,
  unavailable,
  unresumable,
  withLength,
} from '../support/services/mangled.ts';
import { chooseShortestWaits } from '../support/shortest-waits.ts';
import { someRows } from '../support/some-rows.ts';

chooseShortestWaits();

/** Returns a fault in one step of the stream "bad", or no fault. */
function faultIn(step: Step, reply: (truth: Reply, nth: number) => Reply | undefined): Fault {
  return (occasion, truth) => {
    const concerned = occasion.step === step && (occasion.streamId === 'bad' || occasion.streamId === null);
    return concerned ? reply(truth, occasion.nth) : undefined;
  };
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';

const once = (reply: (truth: Reply) => Reply) => (truth: Reply, nth: number) => (nth === 1 ? reply(truth) : undefined);

describe.concurrent('a fault that passes is overcome: exit 0, both streams verified', () => {
  const ROWS: [kind: string, words: string, step: Step, reply: (truth: Reply, nth: number) => Reply | undefined][] = [
    ['refused', '502 twice', 'summary', (_truth, nth) => (nth <= 2 ? unavailable(502) : undefined)],
    ['refused', '500 for the list', 'streams', once(() => unavailable(500))],
    ['refused', '500 for the package', 'json', once(() => unavailable(500))],
    ['refused', '503 with an empty body', 'pdf', once(() => ({ status: 503 }))],
    ['refused', '429 for generate', 'generate', once(() => unavailable(429, { 'retry-after': '1' }))],
    ['resumed', 'cut in the middle, to be resumed', 'json', once((truth) => ({ ...truth, end: 'cut' }))],
    ['anew', 'cut in the middle, not to be resumed', 'json', once((truth) => unresumable({ ...truth, end: 'cut' }))],
    ['anew', 'shorter than Content-Length', 'json', once((truth) => withLength(truth, 7))],
    ['anew', 'a chunk that is not whole', 'json', once(() => ({ raw: `${CHUNKED}5\r\n{"a":\r\n` }))],
    ['no answer', 'reset before an answer', 'json', once(() => ({ end: 'reset' }))],
    ['slow', 'a stall in the middle', 'json', once((truth) => ({ ...truth, end: 'stall' }))],
    ['silent', 'no answer at all', 'summary', once(() => ({ end: 'silence' }))],
    [
      'dripping',
      'a slow drip',
      'json',
      (truth) => ({ headers: truth.headers ?? {}, body: dripping(bytesOf(truth), 12, 250) }),
    ],
    ['encoded', 'gzip though nobody asked', 'json', (truth) => gzipped(truth)],
    ['redirected', 'a redirect on the same origin', 'streams', redirectedOnce()],
  ];

  test.for(someRows(ROWS, ([kind]) => kind))('%s: %s (%s)', async ([, , step, reply], context) => {
    const service = await startFaulty(context, { fault: faultIn(step, reply) });
    const { code, stderr, record, finalized } = await exportFrom(service);
    expect([code, finalized], stderr).toEqual([0, true]);
    expect(record.streams.map((one: RunDocument) => [one.stream_id, one.status])).toEqual([
      ['bad', 'verified'],
      ['good', 'verified'],
    ]);
    expect(record.reconciliation).toMatchObject({ listed: 2, exported: 2, partial: 0, failed: 0 });
  });

  test('429 with Retry-After: 1 is waited for', async (context) => {
    const service = await startFaulty(context, {
      fault: faultIn(
        'json',
        once(() => unavailable(429, { 'retry-after': '1' })),
      ),
    });
    const { code } = await exportFrom(service);
    const refused = service.requests.findIndex(({ status }) => status === 429);
    const [first, second] = service.requests.filter(({ path }) => path === service.requests[refused]?.path);
    expect([code, second?.status]).toEqual([0, 200]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });
});

describe.concurrent('a fault of one form that stays: exit 3, the other stream exported, what arrived kept', () => {
  interface Row {
    kind: string;
    name: string;
    step: Step;
    reply(truth: Reply): Reply;
    message: RegExp;
    /** Name of the attempt's bundle that is kept beside the received forms. */
    kept: string | null;
    finding?: string;
  }
  const html = '<!DOCTYPE html><title>Sign in</title>';
  const ROWS: Row[] = [
    {
      kind: 'status',
      name: '503',
      step: 'json',
      reply: () => unavailable(503),
      message: /json answered 503/,
      kept: null,
    },
    {
      kind: 'cut',
      name: 'cut in the middle',
      step: 'json',
      reply: (truth) => unresumable({ ...truth, end: 'cut' }),
      message: /bad: JSON: .*(?:bytes|closed|cut|broke|terminated)/,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'length',
      name: 'shorter than Content-Length',
      step: 'json',
      reply: (truth) => withLength(unresumable(truth), 7),
      message: /bad: JSON: .*(?:bytes|closed|length|short)/i,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'length',
      name: 'longer than Content-Length',
      step: 'json',
      reply: (truth) => withLength(unresumable(truth), -7),
      message: /bad: JSON: .*(?:bytes|length)/i,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'length',
      name: 'a whole document and more than Content-Length',
      step: 'json',
      reply: (truth) => withLength(unresumable({ ...truth, body: `${bytesOf(truth)}{"more":1}` }), -10),
      message: /bad: JSON: .*(?:bytes|length)/i,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'chunks',
      name: 'chunks without an end',
      step: 'json',
      reply: (truth) => {
        const bytes = bytesOf(truth);
        return { raw: `${CHUNKED}${bytes.length.toString(16)}\r\n${bytes.toString()}\r\n` };
      },
      message: /bad: JSON: .*(?:closed|cut|ended|terminated)/i,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'cut-off document',
      name: 'a clean but cut-off document',
      step: 'json',
      reply: (truth) => asFile(bytesOf(truth).subarray(0, -500), 'application/json'),
      message: /bad: incomplete/,
      kept: 'data/evidence.json',
    },
    {
      kind: 'HTML',
      name: 'HTML with 200 for the package',
      step: 'json',
      reply: () => asFile(html, 'text/html'),
      message: /evidence\/pkg-\d\/json.*200.*text\/html.*DOCTYPE/,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'HTML',
      name: 'HTML that calls itself JSON',
      step: 'json',
      reply: () => asFile(html, 'application/json'),
      message: /evidence\/pkg-\d\/json.*200.*application\/json.*DOCTYPE/,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'empty',
      name: 'an empty 200',
      step: 'json',
      reply: () => asFile('', 'application/json'),
      message: /evidence\/pkg-\d\/json.*200.*empty/,
      kept: null,
    },
    {
      kind: 'foreign',
      name: 'another package of the stream',
      step: 'json',
      reply: (truth) => asFile(JSON.stringify({ ...parse(truth), package_id: 'pkg-other' }), 'application/json'),
      message: /bad: incomplete/,
      kept: 'data/evidence.json',
      finding: 'package/foreign',
    },
    {
      kind: 'foreign',
      name: "another stream's package",
      step: 'json',
      reply: () =>
        asFile(JSON.stringify(packageFor('pkg-1', 'good', chainOf(5, { stream_id: 'good' }))), 'application/json'),
      message: /bad: incomplete/,
      kept: 'data/evidence.json',
      finding: 'package/foreign',
    },
    {
      kind: 'PDF',
      name: 'a PDF that is none',
      step: 'pdf',
      reply: () => asFile('{"detail":"later"}', 'application/pdf'),
      message: /evidence\/pkg-\d\/pdf.*200.*application\/pdf.*later/,
      kept: 'data/evidence.pdf.part',
    },
    {
      kind: 'PDF',
      name: 'HTML instead of the PDF',
      step: 'pdf',
      reply: () => asFile(html, 'text/html'),
      message: /evidence\/pkg-\d\/pdf.*200.*text\/html/,
      kept: 'data/evidence.pdf.part',
    },
    {
      kind: 'empty',
      name: 'an empty summary',
      step: 'summary',
      reply: () => asFile('', 'application/json'),
      message: /evidence\/pkg-\d\/summary.*200.*empty/,
      kept: null,
    },
    {
      kind: 'stall',
      name: 'a stall in the middle',
      step: 'json',
      reply: (truth) => unresumable({ ...truth, end: 'stall' }),
      message: /bad: JSON: .*(?:idle|timeout|time|silent)/i,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'cap',
      name: 'more than the cap',
      step: 'json',
      reply: () => asFile(Buffer.alloc(2_500_000, ' ').fill('{', 0, 1), 'application/json'),
      message: /evidence\/pkg-\d\/json.*2000000/,
      // Content-Length states the size, so the exporter refuses before the body arrives.
      kept: null,
    },
    {
      kind: 'bomb',
      name: 'a gzip bomb',
      step: 'json',
      reply: () => gzipBomb(),
      message: /evidence\/pkg-\d\/json.*2000000/,
      kept: 'data/evidence.json.part',
    },
    {
      kind: 'encoding',
      name: 'an encoding that is unknown',
      step: 'json',
      reply: (truth) => ({ ...truth, headers: { ...truth.headers, 'content-encoding': 'rot13' } }),
      message: /evidence\/pkg-\d\/json.*rot13/,
      kept: null,
    },
  ];

  test.for(someRows(ROWS, ({ kind }) => kind))(
    '$name ($step)',
    async ({ step, reply, message, kept, finding }, context) => {
      const service = await startFaulty(context, { fault: faultIn(step, reply) });
      const { code, stderr, directory, record, finalized, seconds } = await exportFrom(service);
      expect([code, finalized], stderr).toEqual([3, false]);
      expect(stderr).toMatch(message);
      expect(seconds).toBeLessThan(20);
      expect(doneStream(directory, 'good')?.status).toBe('verified');
      expect(doneStream(directory, 'bad')).toBeUndefined();
      expect(record.reconciliation).toMatchObject({ listed: 2, exported: 1 });
      const [incomplete] = record.incomplete;
      expect([incomplete.stream_id, incomplete.status]).toEqual(['bad', 'incomplete']);
      const codes = incomplete.findings.map((found: RunDocument) => found.code);
      if (finding !== undefined) expect(codes).toContain(finding);
      const names = await namesIn(join(directory, 'evidence-archive', incomplete.bundle.key));
      if (kept === null) expect(names).toContain(`_MISSING_${step}.txt`);
      else expect(names).toContain(kept);
      if (kept === null || kept.endsWith('.part'))
        expect([incomplete.partial, incomplete.missing.map((one: RunDocument) => one.form)]).toEqual([true, [step]]);
    },
  );
});

describe.concurrent('a step without which there is no package: exit 3, the stream is a named exception', () => {
  const ROWS: [string, Step, Reply, RegExp][] = [
    ['503 for ever', 'generate', unavailable(503), /generate answered 503/],
    ['HTML', 'generate', asFile('<html>', 'text/html'), /generate.*text\/html.*<html>/],
    ['an empty 201', 'generate', { ...asFile('', 'application/json'), status: 201 }, /generate.*201.*empty/],
    [
      'another stream',
      'generate',
      generatedFor('good'),
      /the service generated a package of the stream "good" instead/,
    ],
  ];

  test.for(someRows(ROWS, ([, , { status = 200 }]) => status))('%s', async ([, step, reply, message], context) => {
    const service = await startFaulty(context, { fault: faultIn(step, () => reply) });
    const { code, stderr, directory, record } = await exportFrom(service);
    expect([code, doneStream(directory, 'good')?.status], stderr).toEqual([3, 'verified']);
    expect(record.reconciliation).toMatchObject({ listed: 2, exported: 1, failed: 1 });
    expect(record.failed).toMatchObject([
      {
        stream_id: 'bad',
        code: expect.any(String),
        reason: expect.stringMatching(message),
        next_step: expect.stringMatching(/\w{3}/),
      },
    ]);
    expect(stderr).toMatch(message);
  });
});

describe.concurrent('a service that sends the key elsewhere', () => {
  const ROWS: [string, Step, number, number][] = [
    ['the list', 'streams', 302, 3],
    ['the package', 'json', 307, 3],
    ['the PDF', 'pdf', 301, 3],
    ['generate', 'generate', 308, 3],
  ];

  // Requests by GET and by POST.
  test.for(someRows(ROWS, ([, step]) => step === 'generate'))(
    '%s (%s): %i is refused, and nothing reaches the other origin',
    async ([, step, status, code], context) => {
      const other = await startFaultServer(json({}));
      context.onTestFinished(() => other.close());
      const location = `${other.url}/collect`;
      const service = await startFaulty(context, { fault: faultIn(step, () => ({ status, headers: { location } })) });
      const exported = await exportFrom(service);
      expect(exported.code, exported.stderr).toBe(code);
      expect(exported.stderr).toContain(other.url);
      expect(other.requests).toEqual([]);
    },
  );

  test('a redirect to itself for ever ends', async (context) => {
    const service = await startFaulty(context, {
      fault: faultIn('streams', () => ({ status: 302, headers: { location: '/streams/' } })),
    });
    const { code, stderr } = await exportFrom(service);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/streams.*redirect/i)]);
    expect(service.requests.length).toBeLessThan(20);
  });
});

describe.concurrent('a list of streams that cannot be trusted: exit 3, and nothing is exported', () => {
  const page = (ids: string[], next: string) => json({ data: ids.map(streamNamed), next_cursor: next });
  const many = (at: number) => Array.from({ length: 500 }, (_, index) => `s-${at}-${index}`);
  const ROWS: [kind: string, words: string, reply: (truth: Reply, nth: number) => Reply, said: RegExp][] = [
    ['circle', 'the same cursor again', () => page([], 'same'), /streams.*(?:again|twice|already read|circle)/i],
    [
      'circle',
      'cursors in a circle',
      (_truth, nth) => page([], `c-${nth % 3}`),
      /streams.*(?:again|twice|already read|circle)/i,
    ],
    ['empty pages', 'empty pages for ever', (_truth, nth) => page([], `c-${nth}`), /streams.*(?:empty|end|pages)/i],
    [
      'too many',
      'new streams for ever',
      (_truth, nth) => page(many(nth), `c-${nth}`),
      /streams.*(?:more than|end|pages|many)/i,
    ],
    [
      'twice',
      'one stream twice',
      () => json({ data: ['good', 'good'].map(streamNamed), next_cursor: null }),
      /"good" twice/,
    ],
    ['no list', 'HTML', () => asFile('<html>', 'text/html'), /streams.*200.*text\/html.*<html>/],
    ['no list', 'an empty body', () => asFile('', 'application/json'), /streams.*200.*empty/],
    [
      'no list',
      'a document that is cut off',
      (truth) => asFile(bytesOf(truth).subarray(0, 90), 'application/json'),
      /streams.*200/,
    ],
    ['cap', 'more than the cap', () => asFile(Buffer.alloc(9_000_000, ' '), 'application/json'), /streams.*8000000/],
    ['bomb', 'a gzip bomb', () => gzipBomb(), /streams.*8000000/],
    ['no HTTP', 'no HTTP', () => ({ raw: 'SSH-2.0-OpenSSH_9.6\r\n' }), /streams.*(?:HTTP|parse)/i],
    [
      'headers',
      'headers without end',
      () => ({ raw: `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}` }),
      /streams.*header/i,
    ],
    ['deep', 'too deep', () => asFile('['.repeat(1_000_000), 'application/json'), /streams.*(?:deep|nest)/],
    ['silence', 'silence', () => ({ end: 'silence' }), /streams.*(?:time|no answer)/i],
  ];

  test.for(someRows(ROWS, ([kind]) => kind))('%s: %s', async ([, , reply, message], context) => {
    const service = await startFaulty(context, { fault: faultIn('streams', reply) });
    const { code, stderr, directory, seconds } = await exportFrom(service);
    expect([code, stderr]).toEqual([3, expect.stringMatching(message)]);
    expect(stderr, 'no next step is told').toMatch(/\n.*\w{3}/);
    expect(seconds).toBeLessThan(30);
    expect(doneStream(directory, 'good')).toBeUndefined();
  });
});

describe.concurrent("a listing of entries that does not end is no evidence: the stream's record is compared with instead", () => {
  const ROWS: [string, (truth: Reply, nth: number) => Reply][] = [
    ['the same cursor again', (truth) => json({ ...parse(truth), next_cursor: 'same' })],
    ['empty pages for ever', (_truth, nth) => json({ data: [], next_cursor: `c-${nth}` })],
    ['503', () => unavailable(503)],
  ];

  test.for(someRows(ROWS, ([words]) => words === '503'))('%s', async ([, reply], context) => {
    const service = await startFaulty(context, { fault: faultIn('entries', reply) });
    const { code, stderr, record } = await exportFrom(service);
    expect(code, stderr).toBe(0);
    const [bad, good] = record.streams.map((stream: RunDocument) => stream.claims.completeness);
    expect([bad.state, bad.basis]).toEqual(['proved', expect.stringMatching(/stream record/)]);
    expect([good.state, good.basis]).toEqual(['proved', expect.stringMatching(/own listing/)]);
  });
});

describe.concurrent('a file that changes between a cut and its resume is never spliced', () => {
  /** Returns the package as made at this second; all versions have the same length. */
  const version = (truth: Reply, second: number) =>
    asFile(JSON.stringify({ ...parse(truth), generated_at: `2026-11-01T00:00:0${second}.000Z` }), 'application/json');
  const start = (range: string | undefined) => Number(/\d+/.exec(range ?? '')?.[0] ?? Number.NaN);
  type Resume = (second: Reply, first: Reply, from: number) => Reply;
  const withEtag = (reply: Reply, etag: string): Reply => ({ ...reply, headers: { ...reply.headers, etag } });
  const ROWS: [kind: string, words: string, resume: Resume][] = [
    ['whole', 'an honest service sends the new one whole', (second) => second],
    ['part', 'the condition is ignored, the new ETag told', (second, _first, from) => partFrom(second, from)],
    ['part', 'the part begins elsewhere', (second, _first, from) => partFrom(second, from - 10)],
    [
      'part',
      'no Content-Range is told',
      (second, _first, from) => ({ ...asFile(bytesOf(second).subarray(from), 'application/json'), status: 206 }),
    ],
    [
      'part',
      'the length has changed',
      (second, first, from) => lengthOf(partFrom(withEtag(second, etagOf(first)), from), 1),
    ],
    ['refused', '416', () => ({ status: 416, headers: { 'content-range': 'bytes */3' } })],
    ['weak', 'both ETags are weak', (second, _first, from) => withEtag(partFrom(second, from), 'W/"1"')],
  ];

  test.for(someRows(ROWS, ([kind]) => kind))('%s: %s', async ([kind, , resume], context) => {
    const documents: [Buffer, Buffer][] = [];
    const service = await startFaulty(context, {
      fault: ({ step, streamId, nth, request }, truth) => {
        if (step !== 'json' || streamId !== 'bad') return undefined;
        const weak = kind === 'weak';
        const [first, second] = [version(truth, 1), version(truth, 2)];
        documents.push([bytesOf(first), bytesOf(second)]);
        if (nth === 1) return { ...(weak ? withEtag(first, 'W/"1"') : first), end: 'cut' };
        const from = start(request.headers.range);
        return Number.isNaN(from) ? second : resume(second, first, from);
      },
    });
    const { code, stderr, directory, record } = await exportFrom(service);
    expect(code, stderr).toBe(0);
    const bundle = join(directory, 'evidence-archive', record.streams[0].bundle.key);
    const evidence = await fileIn(bundle, 'data/evidence.json');
    expect(documents[0]?.map((document) => document.equals(evidence))).toContain(true);
    const log = JSON.parse((await fileIn(bundle, 'data/transfer-log.json')).toString());
    const step = log.steps.find((one: RunDocument) => one.step === 'json');
    expect(step.exchange).toMatchObject({
      sha256: createHash('sha256').update(evidence).digest('hex'),
      bytes: evidence.length,
    });
  });
});

test('the same command again gets only what is missing, and seals', async (context) => {
  let broken = true;
  const fault = faultIn('json', () => (broken ? unavailable(503) : undefined));
  const service = await startFaulty(context, { fault });
  const first = await exportFrom(service);
  broken = false;
  const before = service.requests.length;
  const second = await exportFrom(service, [], first.directory);
  expect([first.code, second.code, second.finalized], second.stderr).toEqual([3, 0, true]);
  expect(second.record.reconciliation).toMatchObject({ listed: 2, exported: 2, partial: 0, failed: 0 });
  const generated = service.requests.slice(before).filter(({ path }) => path === '/evidence/generate');
  expect(generated.map(({ body }) => JSON.parse(body).stream_id)).toEqual(['bad']);
});

test('ids that look like paths, escapes and each other are all exported, and nothing is written elsewhere', async (context) => {
  const ids = [
    '../../../../escape',
    '..',
    '.',
    '/etc/passwd',
    'a/b/c',
    'a\\b',
    'Payments',
    'payments',
    'PAYMENTS',
    'with%2Fescape',
    'with/escape',
    '%00',
    '%',
    'query?x=1&y=2#z',
    'аудит/база',
    '漢字 🔑',
    'e\u0301',
    '\u00e9',
    'nul',
    'trailing.',
    'x'.repeat(300),
    `${'x'.repeat(299)}y`,
  ];
  const service = await startFaulty(context, {
    streams: new Map(ids.map((id) => [id, 2])),
    packageId: (nth, id) => `${nth}/../${id}?a=b&c#d %2F`,
  });
  const { code, stderr, directory, record } = await exportFrom(service);
  expect(code, stderr).toBe(0);
  expect(record.streams.map((stream: RunDocument) => [stream.stream_id, stream.status]).toSorted()).toEqual(
    ids.map((id) => [id, 'verified']).toSorted(),
  );
  const keys = record.streams.map((stream: RunDocument) => stream.bundle.key.toLowerCase());
  expect(new Set(keys).size).toBe(ids.length);
  for (const key of keys) expect(key).toMatch(/^runs\/faults\/streams\/[\w.-]{1,100}\.zip$/);
  expect(readdirSync(directory).toSorted()).toEqual(['evidence-archive', 'evidence.yaml']);
  expect(readdirSync(join(directory, 'evidence-archive')).toSorted()).toEqual(['archive.json', 'ledger', 'runs']);
  const asked = service.requests.filter(({ path }) => path.endsWith('/verify'));
  expect(asked.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(ids.length - 2);
});

test('a stream whose id begins and ends with a space is not accused because a PDF shows none', async (context) => {
  const service = await startFaulty(context, { streams: new Map([[' space ', 2]]) });
  const { code, record } = await exportFrom(service);
  expect([code, record.streams[0].findings]).toEqual([0, []]);
});

test('ten thousand streams are listed, three exported, the others counted', async (context) => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `tenant-${index}/audit`);
  const service = await startFaulty(context, { streams: new Map(ids.map((id) => [id, 1])) });
  const flags = ['tenant-0/audit', 'tenant-777/audit', 'tenant-9999/audit'].flatMap((id) => ['--stream', id]);
  const { code, stderr, record, seconds } = await exportFrom(service, flags);
  expect(code, stderr).toBe(0);
  expect(record.reconciliation).toMatchObject({ listed: 10_000, exported: 3, excluded: 9997, failed: 0 });
  expect(seconds).toBeLessThan(20);
});

function redirectedOnce(): (truth: Reply, nth: number) => Reply | undefined {
  return once(() => ({ status: 307, headers: { location: '/streams/?limit=500' } }));
}

function etagOf(reply: Reply): string {
  return reply.headers?.['etag'] ?? '';
}

function generatedFor(stream_id: string): Reply {
  const body = {
    package_id: 'pkg-x',
    status: 'ready',
    stream_id,
    entry_count: 5,
    created_at: '2026-11-01T00:00:00.000Z',
  };
  return json(body, { status: 201 });
}

function streamNamed(stream_id: string) {
  return {
    stream_id,
    entry_count: 0,
    head_sequence: 0,
    head_hash: null,
    created_at: '2026-10-01T00:00:00.000Z',
    last_entry_at: null,
    verified: false,
    verification_status: 'unverified',
    last_checked_at: null,
    verified_through_sequence: null,
  };
}

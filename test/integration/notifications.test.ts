import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Ended, evidence, evidenceUntil } from '../support/evidence.ts';
import { type Answer, type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.ts';
import { EVIDENCE, evidenceProcess, type Finished, finish, startNode } from '../support/process.ts';
import { type Fault, type FaultyService, startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_notified_0123456789';
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const PING = '/7c1a9f3e-secret-ping-id';
const RUN = 'TOLD';
const EXPORT = ['export', '--all-time', '--request', RUN];

interface Listeners {
  pings: FaultServer;
  hooks: FaultServer;
  collector: OtlpCollector;
  metrics: string;
  cwd: string;
  env: Record<string, string>;
  service: FaultyService;
}

const WELL: Answer = () => ({ body: 'OK' });

async function listening({ fault = (() => undefined) as Fault, answer = WELL, streams = 2 } = {}): Promise<Listeners> {
  const cwd = mkdtempSync(join(tmpdir(), 'notified-'));
  writeFileSync(join(cwd, 'evidence.yaml'), '{}');
  const names = Array.from({ length: streams }, (_, n) => [`stream-${n}`, 3] as const);
  const service = await startFaultyService({ apiKey: KEY, streams: new Map(names), fault });
  const [pings, hooks, collector] = [
    await startFaultServer(answer),
    await startFaultServer(answer),
    await startOtlpCollector(answer === WELL ? null : answer),
  ];
  onTestFinished(async () => void (await Promise.all([service, pings, hooks, collector].map((one) => one.close()))));
  const metrics = join(cwd, 'evidence.prom');
  const env = {
    EVIDENCE_AUDIT_URL: service.auditUrl,
    EVIDENCE_API_KEY: KEY,
    EVIDENCE_PING_URL: `${pings.url}${PING}`,
    EVIDENCE_WEBHOOK_URL: `${hooks.url}/hook/secret-path`,
    EVIDENCE_WEBHOOK_SECRET: SECRET,
    EVIDENCE_METRICS_FILE: metrics,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20otel-secret-token',
    OTEL_SERVICE_NAME: 'audit-export',
  };
  return { pings, hooks, collector, metrics, cwd, env, service };
}

/** Returns the numbers in a text in exposition format, after a strict parse. */
function metricsIn(file: string): Record<string, number> {
  const numbers: Record<string, number> = {};
  const typed = new Set<string>();
  for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
    const [, kind, name = ''] = /^# (HELP|TYPE) ([a-z_]+) .+$/.exec(line) ?? [];
    if (kind === 'TYPE') typed.add(name);
    if (kind !== undefined) continue;
    const [, sample = '', value = ''] = /^([a-z_]+(?:\{[a-z]+="[^"\\]*"\})?) (\d+(?:\.\d+)?)$/.exec(line) ?? [];
    expect(typed, line).toContain(sample.replace(/\{.*/, ''));
    numbers[sample] = Number(value);
  }
  return numbers;
}

function messageIn({ hooks }: Listeners) {
  const [request] = hooks.requests;
  if (request === undefined) throw new Error('nothing was sent');
  // An independent library verifies the signature.
  return new Webhook(SECRET).verify(request.body, request.headers as Record<string, string>) as {
    type: string;
    data: { exit_code: number; summary: string; runs: { run_id: string; state: string; failed: number }[] };
  };
}

const altered: Fault = ({ step, streamId }, truth) =>
  step === 'json' && streamId === 'stream-1'
    ? {
        ...truth,
        headers: { 'content-type': 'application/json' },
        body: String(truth.body).replace('"actor":"', '"actor":"x'),
      }
    : undefined;
const gone: Fault = ({ step, streamId }) =>
  step === 'generate' && streamId === 'stream-1' ? { status: 404, body: '{}' } : undefined;

interface Row {
  code: number;
  fault?: Fault;
  words?: string[];
  env?: Record<string, string>;
  nodeFlags?: string[];
  /** Text after whose output the test interrupts the export. */
  until?: string;
  type: string;
  runs: object[];
}

function carryOut({ cwd, env }: Listeners, words: readonly string[], row: Row): Promise<Ended | Finished> {
  const options = { cwd, env: { ...env, ...row.env } };
  const all = [...EXPORT, ...(row.words ?? []), ...words];
  if (row.nodeFlags !== undefined) return evidenceProcess(all, { ...options, nodeFlags: row.nodeFlags });
  return evidenceUntil(row.until ?? null, all, options);
}

const ROWS: Record<string, Row> = {
  'all verified': {
    code: 0,
    type: 'completed',
    runs: [{ run_id: RUN, state: 'finalized', outcome: 'verified', failed: 0 }],
  },
  'an entry that was altered': {
    code: 1,
    fault: altered,
    type: 'refuted',
    runs: [{ state: 'finalized', outcome: 'refuted' }],
  },
  'a configuration that is wrong': { code: 2, env: { EVIDENCE_CONFIG: 'nowhere.yaml' }, type: 'failed', runs: [] },
  'a stream that is not received': { code: 3, fault: gone, type: 'incomplete', runs: [{ state: 'open', failed: 1 }] },
  'a deadline': {
    code: 3,
    words: ['--deadline', '1s'],
    fault: ({ step }) => (step === 'json' ? { end: 'silence' } : undefined),
    type: 'incomplete',
    runs: [],
  },
  'no stream in scope': { code: 4, words: ['--stream', 'none'], type: 'completed', runs: [{ state: 'open' }] },
  'a key that is refused': { code: 5, env: { EVIDENCE_API_KEY: 'sk_another_0123456789' }, type: 'failed', runs: [] },
  // Runs in a separate process.
  'a defect in the program': {
    code: 70,
    // The code that writes bundles uses toReversed.
    nodeFlags: ['--import', 'data:text/javascript,Array.prototype.toReversed=null'],
    type: 'failed',
    runs: [],
  },
  'Ctrl-C': { code: 130, until: 'to export', type: 'failed', runs: [] },
};

describe('an export that others are told of', () => {
  test.each(Object.entries(ROWS))('ends with its exit code and tells it: %s', async (_name, row) => {
    const here = await listening(row.fault === undefined ? {} : { fault: row.fault });
    const { code, stdout, stderr } = await carryOut(here, [], row);
    expect(code, stderr).toBe(row.code);
    expect(stderr).not.toMatch(/The (ping|webhook|metrics file|traces) failed/);
    for (const secret of [PING, 'secret-path', SECRET, 'otel-secret-token'])
      expect(stdout + stderr).not.toContain(secret);

    const isWell = row.code === 0 || row.code === 4;
    const [started, ended, ...others] = here.pings.requests;
    expect(others).toEqual([]);
    expect([started?.path, ended?.path]).toEqual([
      expect.stringMatching(new RegExp(`^${PING}/start\\?rid=[0-9a-f-]{36}$`)),
      started?.path.replace('/start', isWell ? '' : `/${row.code}`),
    ]);
    expect(ended?.body).toContain(`exit code ${row.code}`);
    expect(ended?.body).not.toContain(KEY);

    const message = messageIn(here);
    expect(here.hooks.requests).toHaveLength(1);
    expect(message).toMatchObject({
      type: `evidence.export.${row.type}`,
      data: { exit_code: row.code, runs: row.runs },
    });
    expect(message.data.runs).toHaveLength(row.runs.length);

    const numbers = metricsIn(here.metrics);
    expect(numbers['evidence_export_last_exit_code']).toBe(row.code);
    expect(numbers['evidence_export_last_success_timestamp_seconds'] !== undefined).toBe(isWell);
    expect(readdirSync(here.cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);

    const spans = here.collector.spans();
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === null);
    expect(roots).toMatchObject([
      { name: 'evidence export', attributes: { 'evidence.exit_code': row.code }, status: isWell ? 0 : 2 },
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  test('is one trace: a span for each stream, and in it one for each request', async () => {
    const here = await listening({ streams: 3 });
    expect((await evidence(EXPORT, here)).code).toBe(0);
    const spans = here.collector.spans();
    const streams = spans.filter(({ name }) => name === 'stream');
    expect(streams.map(({ attributes }) => attributes['evidence.stream_id']).sort()).toEqual([
      'stream-0',
      'stream-1',
      'stream-2',
    ]);
    expect(streams[0]?.attributes).toMatchObject({ 'evidence.status': 'verified', 'evidence.entries': 3 });
    const requests = spans.filter(({ attributes }) => attributes['http.request.method'] !== undefined);
    expect(requests).toHaveLength(here.service.requests.length);
    for (const { spanId } of streams)
      expect(requests.filter(({ parentSpanId }) => parentSpanId === spanId).length).toBeGreaterThan(4);
    expect(here.collector.resource()).toMatchObject({ 'service.name': 'audit-export', 'service.version': '0.1.0' });
    expect(here.collector.requests[0]?.headers.authorization).toBe('Bearer otel-secret-token');
    const sent = here.collector.requests.map(({ body }) => body).join();
    for (const secret of [KEY, 'Bearer', PING]) expect(sent).not.toContain(secret);
  });

  test('keeps the time of the last success when it fails', async () => {
    let isGone = false;
    const here = await listening({ fault: (occasion, truth) => (isGone ? gone(occasion, truth) : undefined) });
    expect((await evidence(EXPORT, here)).code).toBe(0);
    const first = metricsIn(here.metrics);
    expect(first).toMatchObject({
      evidence_export_last_entries: 6,
      'evidence_export_last_streams{status="verified"}': 2,
    });
    isGone = true;
    expect((await evidence([...EXPORT, '--revise'], here)).code).toBe(3);
    const second = metricsIn(here.metrics);
    const name = 'evidence_export_last_success_timestamp_seconds';
    expect(second[name]).toBe(first[name]);
    expect(second).toMatchObject({ evidence_export_last_failed_streams: 1, evidence_export_last_exit_code: 3 });
  });

  test('tells nobody of a dry run', async () => {
    const here = await listening();
    expect((await evidence([...EXPORT, '--dry-run'], here)).code).toBe(0);
    expect([here.pings, here.hooks, here.collector].map(({ requests }) => requests)).toEqual([[], [], []]);
  });
});

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield Buffer.alloc(65_536);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe('an export is what it is where those who are told', () => {
  test.each<[string, Answer, RegExp | null]>([
    ['answer with an error', () => ({ status: 500, body: 'no' }), /The ping failed: 127\.0\.0\.1:\d+ answered 500\./],
    ['say nothing', () => ({ end: 'silence' }), /The ping failed: 127\.0\.0\.1:\d+ did not answer \(out of time\)\./],
    ['break the connection', () => ({ end: 'reset' }), /The ping failed: 127\.0\.0\.1:\d+ did not answer \(\w+\)\./],
    ['send them elsewhere', () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/' } }), /answered 302\./],
    ['answer without end', () => ({ body: endless() }), null],
  ])('%s', async (_what, answer, says) => {
    const here = await listening({ answer });
    const began = performance.now();
    const { code, stderr } = await evidence(EXPORT, here);
    expect(code, stderr).toBe(0);
    expect((performance.now() - began) / 1000).toBeLessThan(15);
    if (says === null) expect(stderr).not.toMatch(/The (ping|webhook) failed/);
    else {
      expect(stderr).toMatch(says);
      for (const name of ['webhook', 'traces'])
        expect(stderr).toMatch(new RegExp(`The ${name} failed: .* The export is not affected\\.`));
    }
    expect(stderr).not.toContain('secret');
  });

  test.each([
    [
      'no collector',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
      /The traces failed: 127\.0\.0\.1:9 did not accept them \(.*ECONNREFUSED.*\)\. The export is not affected\./,
    ],
    [
      'no folder for the metrics',
      { EVIDENCE_METRICS_FILE: '/nowhere/evidence.prom' },
      /The metrics file failed: \/nowhere\/evidence\.prom could not be written \(ENOENT\)/,
    ],
  ])('are not there: %s', async (_what, env, says) => {
    const here = await listening();
    const { code, stderr } = await evidence(EXPORT, { cwd: here.cwd, env: { ...here.env, ...env } });
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(says);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'a collector whose address is none',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' },
      /The traces failed: .* is not a URL/,
    ],
    ['a header that is not encoded', { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic 100%' }, /^/],
    ['a collector for traces alone', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, /^/],
  ])('are set up in another way: %s', async (_what, env, says) => {
    const here = await listening();
    const { code, stderr } = await evidence(EXPORT, { cwd: here.cwd, env: { ...here.env, ...env } });
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('100%');
  });

  test('are switched off', async () => {
    const here = await listening();
    const { code } = await evidence(EXPORT, { cwd: here.cwd, env: { ...here.env, OTEL_SDK_DISABLED: 'true' } });
    expect([code, here.collector.requests]).toEqual([0, []]);
  });
});

describe('those are told who can be told', () => {
  test.each<[string, Record<string, string>, string[]]>([
    ['a webhook without its secret', { EVIDENCE_WEBHOOK_SECRET: '' }, ['ping', 'metrics']],
    ['a ping that is no address', { EVIDENCE_PING_URL: 'ping' }, ['webhook', 'metrics']],
    ['a setting that is wrong', { EVIDENCE_AUDIT_URL: 'audit' }, ['ping', 'webhook', 'metrics']],
  ])('of %s', async (_what, env, told) => {
    const here = await listening();
    const { code, stderr } = await evidence(EXPORT, { cwd: here.cwd, env: { ...here.env, ...env } });
    expect(code, stderr).toBe(2);
    expect(here.pings.requests.map(({ path }) => path.includes('/2?'))).toEqual(
      told.includes('ping') ? [false, true] : [],
    );
    expect(here.hooks.requests).toHaveLength(told.includes('webhook') ? 1 : 0);
    expect(metricsIn(here.metrics)['evidence_export_last_exit_code']).toBe(2);
  });

  test('of a wrong configuration, by the address that stands in it', async () => {
    const here = await listening();
    const file = join(here.cwd, 'ping-url');
    writeFileSync(file, here.env['EVIDENCE_PING_URL'] ?? '');
    writeFileSync(join(here.cwd, 'evidence.yaml'), 'deadline: never\nnotify: { ping_url_file: ping-url }\n');
    const { EVIDENCE_PING_URL: _url, ...env } = here.env;
    expect((await evidence(EXPORT, { cwd: here.cwd, env })).code).toBe(2);
    expect(here.pings.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([`${PING}/start`, `${PING}/2`]);
  });

  test('of a proxy that is none, by a file', async () => {
    const here = await listening();
    const { code } = await evidence(EXPORT, { cwd: here.cwd, env: { ...here.env, HTTP_PROXY: 'no proxy' } });
    expect([code, metricsIn(here.metrics)['evidence_export_last_exit_code']]).toEqual([2, 2]);
  });

  test('of a service that is gone, and of a run that is finalized already', async () => {
    const here = await listening();
    const nobody = { EVIDENCE_AUDIT_URL: 'http://127.0.0.1:9/audit' };
    expect((await evidence(EXPORT, { cwd: here.cwd, env: { ...here.env, ...nobody } })).code).toBe(3);
    expect((await evidence(EXPORT, here)).code).toBe(0);
    expect((await evidence(EXPORT, here)).code).toBe(0);
    const messages = here.hooks.requests.map(({ body }) => JSON.parse(body));
    expect(messages).toMatchObject([
      { type: 'evidence.export.incomplete', data: { runs: [] } },
      { type: 'evidence.export.completed', data: { runs: [{ state: 'finalized' }] } },
      { type: 'evidence.export.completed', data: { runs: [{ state: 'already' }] } },
    ]);
  });

  test('of several months, once', async () => {
    const here = await listening();
    const { code } = await evidence(['export', '--missing'], here);
    expect([0, 4]).toContain(code);
    expect(here.pings.requests).toHaveLength(2);
    expect(messageIn(here).data).toMatchObject({
      exit_code: code,
      runs: [{ run_id: expect.stringMatching(/^2\d{3}-\d\d$/) }],
    });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('of %s, by a process that ends', async (signal, code) => {
    const here = await listening({ fault: ({ step }) => (step === 'json' ? { end: 'silence' } : undefined) });
    const child = startNode(EVIDENCE, EXPORT, here);
    const finished = finish(child);
    await expect.poll(() => here.service.requests.some(({ path }) => path.endsWith('/json'))).toBe(true);
    child.kill(signal);
    expect((await finished).code).toBe(code);
    expect(here.pings.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
      `${PING}/start`,
      `${PING}/${code}`,
    ]);
    expect(messageIn(here)).toMatchObject({ type: 'evidence.export.failed', data: { exit_code: code } });
  });
});

describe('with --log-format json', () => {
  const lines = (stderr: string) =>
    stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  test.each(Object.entries(ROWS).filter(([, { until }]) => until === undefined))(
    'each line on stderr is an object: %s',
    async (_name, row) => {
      const here = await listening(row.fault === undefined ? {} : { fault: row.fault });
      const { code, stderr, stdout } = await carryOut(here, ['--log-format', 'json', '--verbose'], row);
      expect(code, stderr).toBe(row.code);
      const events = lines(stderr);
      for (const event of events)
        expect(event).toMatchObject({
          time: expect.stringMatching(/^2\d{3}-.*Z$/),
          level: expect.stringMatching(/^(debug|info|error)$/),
          event: expect.any(String),
        });
      for (const secret of [KEY, PING, SECRET, 'otel-secret-token', 'Bearer', 'authorization'])
        expect(stderr).not.toContain(secret);
      expect(stdout).not.toMatch(/^\{"time"/m);
      const failure = events.find(({ event }) => event === 'failure');
      if (row.code === 2)
        expect(failure).toMatchObject({ level: 'error', code: 'config', exit_code: 2, next_step: expect.any(String) });
    },
  );

  test('events tell run, stream and request ids', async () => {
    const here = await listening({
      fault: (_occasion, truth) => ({ ...truth, headers: { ...truth.headers, 'x-request-id': 'req-77' } }),
    });
    const { stderr } = await evidence([...EXPORT, '--log-format', 'json', '--verbose'], here);
    const events = lines(stderr);
    const of = (name: string) => events.filter(({ event }) => event === name);
    expect(of('planned')).toMatchObject([{ run_id: RUN, streams: 2, done: 0, excluded: 0 }]);
    expect(
      of('finished')
        .map(({ stream_id }) => stream_id)
        .sort(),
    ).toEqual(['stream-0', 'stream-1']);
    expect(of('finished')[0]).toMatchObject({ run_id: RUN, status: 'verified', entries: 3 });
    expect(of('concluding')).toMatchObject([{ run_id: RUN }]);
    expect(of('finalized')).toMatchObject([{ run_id: RUN, outcome: 'verified' }]);
    expect(of('request').length).toBe(here.service.requests.length);
    expect(of('request').at(-1)).toMatchObject({
      stream_id: expect.stringMatching(/^stream-/),
      status: 200,
      request_id: 'req-77',
      method: expect.any(String),
      milliseconds: expect.any(Number),
    });
  });

  test('what is said before a command begins is an object, too', async () => {
    const here = await listening();
    for (const [words, env] of [
      [['export', '--perod', '2026-10', '--log-format', 'json'], {}],
      [['export', '--perod', '2026-10', '--log-format=json'], {}],
      [['nothing'], { EVIDENCE_LOG_FORMAT: 'json' }],
      [[], { EVIDENCE_LOG_FORMAT: 'json' }],
      [['export', '--archive', ''], { EVIDENCE_LOG_FORMAT: 'json' }],
    ] as const) {
      const { code, stderr } = await evidence(words, { cwd: here.cwd, env: { ...here.env, ...env } });
      expect(code).toBe(2);
      expect(lines(stderr).at(-1)).toMatchObject({ event: 'failure', code: 'usage', level: 'error' });
    }
  });

  test('is said in no other word', async () => {
    const here = await listening();
    const { code, stderr } = await evidence(EXPORT, {
      cwd: here.cwd,
      env: { ...here.env, EVIDENCE_LOG_FORMAT: 'jsno' },
    });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('EVIDENCE_LOG_FORMAT must be text or json, not "jsno"'),
    ]);
  });
});

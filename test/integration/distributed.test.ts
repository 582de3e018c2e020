import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ageKey } from '../support/age.ts';
import { shellLines } from '../support/documents.ts';
import { type Ended, evidence, evidenceUntil } from '../support/evidence.ts';
import { startFalseService } from '../support/false-service.ts';
import { startOtlpCollector } from '../support/otlp-collector.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { EVIDENCE, finish, startNode } from '../support/process.ts';
import { seededRandom } from '../support/random.ts';
import { type Shown, storyOf } from '../support/services/beside.ts';
import { placeBeside, recordIn, words } from '../support/services/beside-export.ts';
import { type Fault, type FaultyService, startFaultyService } from '../support/services/faulty.ts';
import { someRows } from '../support/some-rows.ts';
import { Workers } from '../support/workers.ts';

const KEY = 'sk_distributed_0123456789';
const RUN = 'MANY';
const EXPORT = ['export', '--all-time', '--request', RUN];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: true });
});
afterAll(() => server.stop());

interface World {
  cwd: string;
  env: Record<string, string>;
  queueUrl: string;
  service: FaultyService;
  workers: Workers;
  record(): RunDocument;
}

// biome-ignore lint/suspicious/noExplicitAny: a record of the archive as parsed JSON.
type RunDocument = any;

async function world({
  streams = 6,
  entries = 3,
  fault = (() => undefined) as Fault,
  config = '',
} = {}): Promise<World> {
  const names = Array.from({ length: streams }, (_, n) => `stream-${String(n).padStart(3, '0')}`);
  const service = await startFaultyService({
    apiKey: KEY,
    streams: new Map(names.map((name) => [name, entries])),
    fault,
  });
  const cwd = mkdtempSync(join(tmpdir(), 'distributed-'));
  writeFileSync(join(cwd, 'evidence.yaml'), config);
  const queueUrl = await server.createDatabase();
  const env = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY, EVIDENCE_QUEUE_URL: queueUrl };
  const workers = new Workers({ cwd, env });
  onTestFinished(async () => {
    await workers.close();
    await service.close();
  });
  const record = () => JSON.parse(readFileSync(join(cwd, 'evidence-archive/runs', RUN, 'run.json'), 'utf8'));
  return { cwd, env, queueUrl, service, workers, record };
}

/** Expects every stream once in the run record, one ledger entry, and another process to verify everything. */
async function expectWhole({ cwd, env, record }: World, streams: number): Promise<void> {
  const ids = record().streams.map(({ stream_id }: { stream_id: string }) => stream_id);
  expect(ids).toHaveLength(streams);
  expect(new Set(ids).size).toBe(streams);
  expect(readdirSync(join(cwd, 'evidence-archive/ledger'))).toHaveLength(1);
  const verified = await evidence(['verify', 'evidence-archive'], { cwd, env });
  expect(verified.stdout, verified.stdout).toContain(`Outcome       verified (exit code 0)`);
  expect(verified.code).toBe(0);
}

const KILLS = someRows([4, 10], () => 'kills').at(-1) ?? 0;

describe(`four workers, one of which is killed ${KILLS} times`, () => {
  const STREAMS = 10 * KILLS;
  const RATE = 60;

  test('export every stream once, within the limit of the service', async () => {
    const random = seededRandom(20261126);
    const fault: Fault = ({ step }) => {
      if (step === 'streams') return undefined;
      const drawn = random();
      if (drawn < 0.02) return { status: 503, body: 'later' };
      if (drawn < 0.03) return { status: 429, headers: { 'retry-after': '1' }, body: 'slower' };
      return drawn < 0.05 ? { end: 'reset' } : undefined;
    };
    const config = `source: { rate: { requests_per_second: ${RATE} } }\n`;
    const here = await world({ streams: STREAMS, entries: 5, fault, config });
    const coordinator = finish(startNode(EVIDENCE, [...EXPORT, '--distributed'], here));
    for (let n = 0; n < 4; n++) here.workers.start(['--concurrency', '3']);
    let kills = 0;
    const killing = (async () => {
      while (kills < KILLS) {
        await sleep(300 + random() * 1000);
        const running = [...here.workers.running];
        const victim = running[Math.floor(random() * running.length)];
        if (victim === undefined) continue;
        victim.process.kill('SIGKILL');
        await victim.ended;
        kills += 1;
        here.workers.start(['--concurrency', '3']);
      }
    })();
    const [ended] = await Promise.all([coordinator, killing]);
    expect(ended.code, ended.stderr + ended.stdout + here.workers.said.join('\n')).toBe(0);
    expect(kills).toBe(KILLS);
    await expectWhole(here, STREAMS);
    expect(here.record()).toMatchObject({ outcome: 'verified', failed: [], vanished: [] });
    // Network delays vary, so the limit applies to several seconds together.
    const times = here.service.requests.map(({ at }) => at);
    const busiest = Math.max(...times.map((at, n) => times.slice(n).filter((one) => one < at + 5000).length));
    expect(busiest).toBeLessThanOrEqual(5 * RATE);
  });
});

/** Distributes the run, and lets one worker of this process work until no run is under way. */
async function distribute(
  here: World,
  words: readonly string[] = EXPORT,
): Promise<Record<'exported' | 'worked', Ended>> {
  const exporting = evidence([...words, '--distributed'], here);
  await handedOut(here);
  const worked = await evidence(['worker', '--until-idle'], here);
  return { worked, exported: await exporting };
}

/** Waits until a run is under way. */
async function handedOut({ queueUrl }: Pick<World, 'queueUrl'>): Promise<void> {
  const under = "SELECT 1 FROM evidence.runs WHERE state <> 'ended'";
  await expect.poll(async () => (await server.query(queueUrl, under).catch(() => ({ rows: [] }))).rows).toHaveLength(1);
}

/** Returns the states of supplement records when one machine exports everything. */
async function kindsOfOneMachine(auditUrl: string, shown: Shown): Promise<object> {
  const { beside, folder, run } = await placeBeside(auditUrl, shown);
  onTestFinished(() => beside.close());
  expect((await run()).code).toBe(0);
  return recordIn(folder).supplements.kinds;
}

async function countRecorded({ queueUrl }: World): Promise<number> {
  return (await server.query(queueUrl, "SELECT 1 FROM evidence.streams WHERE kind = 'recorded'")).rows.length;
}

describe('a run that is handed out', () => {
  test('is the one that a single machine makes', async () => {
    const here = await world();
    const { exported, worked } = await distribute(here);
    expect(exported.code, exported.stderr + worked.stderr).toBe(0);
    expect(worked.code, worked.stderr).toBe(0);
    await expectWhole(here, 6);
    const { recovered, attempts, warnings, streams } = here.record();
    const alone = await world();
    alone.service.close();
    const single = { ...alone, env: here.env };
    expect((await evidence(EXPORT, single)).code).toBe(0);
    expect({ recovered, warnings, attempts: attempts.length }).toEqual({
      recovered: single.record().recovered,
      warnings: single.record().warnings,
      attempts: 1,
    });
    const claimsOf = (all: RunDocument[]) =>
      all.map(({ stream_id, claims, status }) => ({ stream_id, claims, status }));
    expect(claimsOf(streams)).toEqual(claimsOf(single.record().streams));
    expect(exported.stdout).toContain('Streams       6 listed = 6 exported');
  });

  test('is finalized, and the same command says so', async () => {
    const here = await world({ streams: 2 });
    await distribute(here);
    const again = await evidence([...EXPORT, '--distributed'], here);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('was finalized at');
  });

  test('goes on where a single machine was interrupted', async () => {
    const here = await world({ streams: 8 });
    const { code } = await evidenceUntil('stream-003: verified', EXPORT, here);
    expect(code).toBe(130);
    const { exported } = await distribute(here);
    expect(exported.code, exported.stderr).toBe(0);
    await expectWhole(here, 8);
    expect(here.record().attempts.length).toBe(2);
    // Streams that the first machine received are verified again, but not requested again.
    expect(here.record().recovered).toBeGreaterThan(3);
    expect(
      here.service.requests.filter(({ method, path }) => method === 'POST' && path.includes('stream-000')),
    ).toHaveLength(1);
  });

  test('is finished by a single machine where its workers are gone', async () => {
    const here = await world({ streams: 8 });
    expect((await evidenceUntil('is queued for workers', [...EXPORT, '--distributed'], here)).code).toBe(130);
    const worker = here.workers.start(['--concurrency', '1']);
    await expect.poll(() => countRecorded(here)).toBeGreaterThan(2);
    worker.process.kill('SIGKILL');
    await worker.ended;
    const finished = await evidence(EXPORT, here);
    expect(finished.code, finished.stderr).toBe(0);
    await expectWhole(here, 8);
  });

  test('gets nothing from its workers once a single machine has finalized it without a stream', async () => {
    const fault: Fault = ({ step, streamId }) =>
      step === 'generate' && streamId === 'stream-001' ? { status: 404, body: 'no' } : undefined;
    const here = await world({ streams: 3, fault });
    expect((await evidenceUntil('is queued for workers', [...EXPORT, '--distributed'], here)).code).toBe(130);
    expect((await evidence([...EXPORT, '--finalize-partial'], here)).code).toBe(3);
    const before = readdirSync(join(here.cwd, 'evidence-archive'), { recursive: true }).sort();
    expect((await evidence(['worker', '--until-idle'], here)).code).toBe(0);
    expect(readdirSync(join(here.cwd, 'evidence-archive'), { recursive: true }).sort()).toEqual(before);
    const status = await evidence(['status', RUN], here);
    expect([status.code, status.stdout]).toEqual([3, expect.stringContaining('another export has finished run')]);
  });

  test('stays open where a stream is not received, and the same command goes on with it', async () => {
    let isGone = true;
    const fault: Fault = ({ step, streamId }) =>
      isGone && step === 'generate' && streamId === 'stream-001' ? { status: 404, body: 'no' } : undefined;
    const here = await world({ fault });
    const { exported } = await distribute(here);
    expect(exported.code, exported.stderr).toBe(3);
    expect(exported.stdout).toContain('not exported stream-001');
    const status = await evidence(['status', RUN, '--json'], here);
    expect(status.code).toBe(3);
    expect(JSON.parse(status.stdout).runs[0]).toMatchObject({
      state: 'ended',
      recorded: 5,
      failed: 1,
      exit_code: 3,
      outcome: 'incomplete',
      failures: [{ stream_id: 'stream-001', state: 'failed' }],
    });
    isGone = false;
    const again = await distribute(here);
    expect(again.exported.code, again.exported.stderr).toBe(0);
    await expectWhole(here, 6);
  });

  test('is finalized with what is missing where that is asked for', async () => {
    const fault: Fault = ({ step, streamId }) =>
      step === 'pdf' && streamId === 'stream-001' ? { status: 404, body: 'no' } : undefined;
    const here = await world({ fault });
    const { exported } = await distribute(here, [...EXPORT, '--finalize-partial']);
    expect(exported.code, exported.stderr).toBe(3);
    expect(here.record()).toMatchObject({ outcome: 'incomplete', reconciliation: { partial: 1, exported: 5 } });
  });

  test('has encrypted bundles that each worker verified before', async () => {
    const { recipient } = ageKey(mkdtempSync(join(tmpdir(), 'recipient-')), 'auditor');
    const here = await world({ streams: 2, config: `archive: { encrypt_to: [${recipient}] }\n` });
    const { exported } = await distribute(here);
    expect(exported.code, exported.stderr).toBe(0);
    expect(here.record()).toMatchObject({ recovered: 0 });
    expect(here.record().warnings.join()).not.toContain('recovered');
  });

  test('has nothing to hand out where no stream is in scope', async () => {
    const here = await world();
    const exported = await evidence([...EXPORT, '--distributed', '--stream', 'none/*'], here);
    expect(exported.code, exported.stderr).toBe(4);
  });

  test('ends at its deadline, wherever its streams are, and the same command goes on with it', async () => {
    let isWell = false;
    const fault: Fault = ({ step, streamId }) =>
      !isWell && step === 'json' && streamId !== 'stream-000' ? { end: 'silence' } : undefined;
    const here = await world({ streams: 9, fault });
    const exporting = evidence([...EXPORT, '--distributed', '--deadline', '6s'], here);
    await handedOut(here);
    const began = performance.now();
    const worked = await evidence(['worker', '--until-idle'], here);
    expect((performance.now() - began) / 1000).toBeLessThan(15);
    expect(worked.code, worked.stderr).toBe(0);
    const exported = await exporting;
    expect(exported.code).toBe(3);
    expect(exported.stderr).toContain('the deadline (6s) passed');
    const status = await evidence(['status', RUN], here);
    expect(status.code).toBe(3);
    expect(status.stdout).toContain(`failed 8 streams: the deadline of run ${RUN} passed`);
    isWell = true;
    const again = await distribute(here);
    expect(again.exported.code, again.exported.stderr).toBe(0);
    await expectWhole(here, 9);
  });

  test('is one trace, whoever exports its streams', async () => {
    const collector = await startOtlpCollector();
    onTestFinished(() => collector.close());
    const here = await world({ streams: 3 });
    const { exported } = await distribute({
      ...here,
      env: { ...here.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    });
    expect(exported.code, exported.stderr).toBe(0);
    const spans = collector.spans();
    const root = spans.find(({ name }) => name === 'evidence export');
    const streams = spans.filter(({ name }) => name === 'stream');
    expect(streams.map(({ attributes }) => attributes['evidence.stream_id']).sort()).toEqual([
      ...['stream-000', 'stream-001', 'stream-002'],
    ]);
    for (const { traceId, parentSpanId } of streams)
      expect([traceId, parentSpanId]).toEqual([root?.traceId, root?.spanId]);
  });

  test('has the supplements of the other services, compared with what its workers exported', async () => {
    const story = storyOf(2);
    const audit = await startFalseService();
    for (const [id, entries] of story.streams) audit.streams.set(id, { entries });
    const { beside, directory, env, folder } = await placeBeside(audit.url, story.shown);
    onTestFinished(async () => void (await Promise.all([audit.close(), beside.close()])));
    const queueUrl = await server.createDatabase();
    const here = { cwd: directory, env: { ...env, EVIDENCE_QUEUE_URL: queueUrl } };
    const exporting = evidence([...words, '--distributed'], here);
    await handedOut({ queueUrl });
    expect((await evidence(['worker', '--until-idle'], here)).code).toBe(0);
    const exported = await exporting;
    expect(exported.code, exported.stderr).toBe(0);
    const { supplements } = recordIn(folder);
    expect(supplements.findings).toEqual([]);
    expect(supplements.kinds).toEqual(await kindsOfOneMachine(audit.url, story.shown));
    expect((await evidence(['verify', 'evidence-archive'], here)).code).toBe(0);
  });

  test('waits for a PostgreSQL that is stopped in the middle', async () => {
    const here = await world({ streams: 30 });
    const exporting = evidence([...EXPORT, '--distributed'], here);
    await handedOut(here);
    const worker = here.workers.start(['--until-idle', '--concurrency', '2']);
    await expect.poll(() => countRecorded(here)).toBeGreaterThan(3);
    await server.kill();
    await sleep(2000);
    await server.start();
    const [exported, worked] = await Promise.all([exporting, worker.ended]);
    expect(exported.code, exported.stderr + worked.stderr).toBe(0);
    expect(worked.stderr).toMatch(/does not answer \(.*\); waiting for it/);
    await expectWhole(here, 30);
  });
});

describe('a worker', () => {
  test('that is terminated gives what it holds to others at once', async () => {
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    const fault: Fault = ({ step, nth, streamId }) => {
      if (step !== 'json' || nth > 1 || streamId !== 'stream-000') return undefined;
      hold();
      return released;
    };
    const here = await world({ streams: 1, fault });
    const exporting = evidence([...EXPORT, '--distributed'], here);
    await handedOut(here);
    const worker = here.workers.start();
    await held;
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(143);
    release(undefined);
    const { rows } = await server.query(here.queueUrl, 'SELECT worker, failure FROM evidence.streams');
    expect(rows).toMatchObject([{ worker: null, failure: expect.stringContaining('interrupted') }]);
    expect((await evidence(['worker', '--until-idle'], here)).code).toBe(0);
    expect((await exporting).code).toBe(0);
    await expectWhole(here, 1);
  });

  test.each([
    [
      'of another service',
      2,
      { EVIDENCE_AUDIT_URL: 'http://127.0.0.1:9/other' },
      'but this worker is configured for http://127.0.0.1:9/other',
    ],
    ['of another key', 3, { EVIDENCE_API_KEY: 'sk_another_0123456789' }, 'asked.json is not accepted for this run'],
    ['of another archive', 2, { EVIDENCE_ARCHIVE_URL: './elsewhere' }, 'asked.json'],
  ])('%s ends, and leaves the run to others', async (_name, code, env, says) => {
    const here = await world({ streams: 3 });
    const exporting = evidence([...EXPORT, '--distributed'], here);
    await handedOut(here);
    const stranger = await evidence(['worker'], { cwd: here.cwd, env: { ...here.env, ...env } });
    expect(stranger.stderr).toContain(says);
    expect(stranger.code, stranger.stderr).toBe(code);
    expect((await evidence(['worker', '--until-idle'], here)).code).toBe(0);
    const exported = await exporting;
    expect(exported.code, exported.stderr).toBe(0);
    await expectWhole(here, 3);
  });

  test('that cannot write into the archive ends, and gives what it holds to others', async () => {
    const here = await world({ streams: 2 });
    const exporting = evidence([...EXPORT, '--distributed'], here);
    await handedOut(here);
    const folder = join(here.cwd, 'evidence-archive/runs', RUN, 'streams');
    writeFileSync(folder, 'in the way');
    const broken = await evidence(['worker', '--until-idle'], here);
    expect(broken.code, broken.stderr).toBe(3);
    rmSync(folder);
    expect((await evidence(['worker', '--until-idle'], here)).code).toBe(0);
    expect((await exporting).code).toBe(0);
    await expectWhole(here, 2);
  });

  test('takes nothing of what a stranger put into the archive, and the run ends with that', async () => {
    const here = await world({ streams: 2 });
    const exporting = evidence([...EXPORT, '--distributed'], here);
    await handedOut(here);
    const folder = join(here.cwd, 'evidence-archive/runs', RUN, 'streams');
    mkdirSync(folder, { recursive: true });
    const { rows } = await server.query(here.queueUrl, 'SELECT slug FROM evidence.streams ORDER BY slug');
    writeFileSync(join(folder, `${rows[0].slug}_COMPLETE.zip`), 'not ours');
    writeFileSync(join(folder, `${rows[0].slug}.json`), '{}');
    await evidence(['worker', '--until-idle'], here);
    const exported = await exporting;
    expect(exported.code, exported.stderr).toBe(3);
    expect(exported.stderr).toContain('is not accepted for this run');
    expect(existsSync(join(here.cwd, 'evidence-archive/runs', RUN, 'run.json'))).toBe(false);
  });
});

test('the lines of the help are those of three machines', async () => {
  const here = await world({ streams: 3 });
  const lines = shellLines('distributed', 0)
    .trim()
    .split('\n')
    .map((line) =>
      line
        .replace(/ +#.*$/, '')
        .split(' ')
        .slice(1),
    );
  const [variable, worker = [], exporting = [], status = []] = lines;
  expect(variable?.[0]).toContain('EVIDENCE_QUEUE_URL=');
  const exported = evidence(exporting, here);
  await handedOut(here);
  const [worked, watched] = await Promise.all([
    evidence([...worker, '--until-idle', '--concurrency', '8'], here),
    evidence(status, here),
  ]);
  const { code, stdout, stderr } = await exported;
  expect([worked.code, watched.code, code], stdout + stderr + watched.stderr).toEqual([0, code, code]);
  expect(watched.stdout).toContain('3 of 3 streams done; ended');
  expect((await evidence(['status'], here)).stdout).toContain('3 of 3 streams done; ended');
});

describe('without', () => {
  test.each([['worker'], ['status'], ['export --all-time --distributed']])(
    'a queue, %s says how it is configured',
    async (words) => {
      const here = await world({ streams: 1 });
      const { EVIDENCE_QUEUE_URL: _queue, ...env } = here.env;
      const { code, stderr } = await evidence(words.split(' '), { cwd: here.cwd, env });
      expect(code).toBe(2);
      expect(stderr).toContain('EVIDENCE_QUEUE_URL');
    },
  );

  test.each([
    ['status nowhere', 2, 'run nowhere is not a distributed run'],
    ['status --watch', 2, '--watch needs a run'],
    ['status', 0, 'There are no distributed runs.'],
  ])('a run, %s', async (words, code, says) => {
    const here = await world({ streams: 1 });
    const ended = await evidence(words.split(' '), here);
    expect(ended.code).toBe(code);
    expect(ended.stdout + ended.stderr).toContain(says);
  });
});

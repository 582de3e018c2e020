import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import type { Reply } from '../support/fault-server.ts';
import { evidenceProcess, type Finished } from '../support/process.ts';
import { type Fault, type FaultyService, type Step, startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_deadline_0123456789';
/** Deadline that allows several programs to start at once. */
const DEADLINE_S = 5;
/** Five seconds for a clean end, and twenty for several programs to start at once on a busy machine. */
const LONGEST_S = DEADLINE_S + 5 + 20;
const EXPORT = ['export', '--all-time', '--request', 'LATE'];

interface Place {
  cwd: string;
  env: Record<string, string>;
  service: FaultyService;
}

async function place({ onTestFinished }: TestContext, fault: Fault, config: object = {}): Promise<Place> {
  const streams = new Map([
    ['first', 4],
    ['second', 4],
    ['third', 4],
  ]);
  const service = await startFaultyService({ apiKey: KEY, streams, fault });
  onTestFinished(() => service.close());
  const cwd = mkdtempSync(join(tmpdir(), 'deadline-'));
  writeFileSync(join(cwd, 'evidence.yaml'), JSON.stringify({ source: { rate: { concurrency: 1 } }, ...config }));
  return { cwd, service, env: { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY } };
}

async function timed(words: readonly string[], { cwd, env }: Place): Promise<Finished & { seconds: number }> {
  const began = performance.now();
  const finished = await evidenceProcess(words, { cwd, env });
  return { ...finished, seconds: (performance.now() - began) / 1000 };
}

/** Returns an endless body. */
function endless(type: string, beginning: string): Reply {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(beginning);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield Buffer.alloc(4096, ' ');
    }
  }
  return { headers: { 'content-type': type }, body: body() };
}

describe.concurrent('an export with a deadline', () => {
  test.for<[what: string, step: Step, reply: () => Reply, archived: number]>([
    ['a list of streams that is not answered', 'streams', () => ({ end: 'silence' }), 0],
    ['a package that stalls', 'json', () => ({ body: '{"entries":[', end: 'stall' }), 1],
    ['a package without end', 'json', () => endless('application/json', '{"entries":['), 1],
    ['a PDF without end', 'pdf', () => endless('application/pdf', '%PDF-1.7\n'), 1],
    ['a listing without end', 'entries', () => endless('application/json', '{"entries":['), 1],
    [
      'a service that asks for a wait',
      'generate',
      () => ({ status: 429, headers: { 'retry-after': '60' }, body: '{}' }),
      1,
    ],
  ])('ends in time at %s, and the same command resumes it', async ([, step, reply, archived], context) => {
    let isWell = false;
    const here = await place(context, (occasion) =>
      !isWell && occasion.step === step && occasion.streamId !== 'first' ? reply() : undefined,
    );
    const { code, stderr, seconds } = await timed([...EXPORT, '--deadline', `${DEADLINE_S}s`], here);
    expect(stderr).toContain(`the deadline (${DEADLINE_S}s) passed; archived bundles are kept`);
    expect(stderr).toContain('Run the same command again to resume.');
    // On a busy machine, the first stream may not be archived yet.
    if (archived > 0)
      expect(stderr).toMatch(/(1 stream archived, 0 failed, 2|0 streams archived, 0 failed, [03]) left\./);
    expect(code).toBe(3);
    expect(seconds).toBeLessThan(LONGEST_S);
    isWell = true;
    const again = await evidence([...EXPORT, '--deadline', '5m'], here);
    expect(again.code, again.stderr).toBe(0);
    const record = JSON.parse(readFileSync(join(here.cwd, 'evidence-archive/runs/LATE/run.json'), 'utf8'));
    expect(record.streams).toHaveLength(3);
    expect((await evidence(['verify', 'evidence-archive'], here)).code).toBe(0);
  });

  test('ends in time at a store that does not answer', async (context) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    context.onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const here = await place(context, () => undefined, {
      archive: { url: 's3://bucket/prod', endpoint: `http://127.0.0.1:${port}`, path_style: true },
      deadline: `${DEADLINE_S}s`,
    });
    const env = { ...here.env, AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'us-east-1' };
    const { code, stderr, seconds } = await timed(EXPORT, { ...here, env });
    expect(stderr).toContain(`the deadline (${DEADLINE_S}s) passed`);
    expect(code).toBe(3);
    expect(seconds).toBeLessThan(LONGEST_S);
  });

  test('is over several months together', async (context) => {
    const here = await place(context, ({ step }) => (step === 'json' ? { end: 'silence' } : undefined));
    const { code, stderr, seconds } = await timed(['export', '--missing', '--deadline', `${DEADLINE_S}s`], here);
    expect(stderr).toContain(`the deadline (${DEADLINE_S}s) passed`);
    expect(code).toBe(3);
    expect(seconds).toBeLessThan(LONGEST_S);
  });

  test('that is not reached says nothing', async (context) => {
    const here = await place(context, () => undefined);
    const { code, stderr, seconds } = await timed([...EXPORT, '--deadline', '1h'], here);
    expect(code).toBe(0);
    expect(stderr).not.toContain('deadline');
    expect(seconds).toBeLessThan(60);
  });
});

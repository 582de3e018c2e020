import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTexts } from '../../src/exporter/report/texts.ts';
import { bare, entryAfter, type SentEntry } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { toRunView } from '../support/run-view.ts';

/** Streams that ended or restarted, each accepted by an operator before the next export. */

let service: FalseService;
const env = () => ({ EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_this_test' });
const typed = (...words: string[]) => evidence(words, { cwd: service.directory, env: env() });

/** Builds this many entries in September, and as many in October. */
function entriesOf(stream_id: string, count: number, actor = 'a'): SentEntry[] {
  const entries: SentEntry[] = [];
  for (const month of ['09', '10'])
    for (let day = 1; day <= count; day++) {
      const timestamp = `2026-${month}-${String(day).padStart(2, '0')}T12:00:00.000Z`;
      entries.push(entryAfter(entries.at(-1) ?? null, { stream_id, actor, timestamp }));
    }
  return entries;
}

const recordOf = (runId: string) =>
  JSON.parse(readFileSync(join(service.directory, 'evidence-archive/runs', runId, 'run.json'), 'utf8'));
const viewOf = (runId: string) => toRunView(recordOf(runId), true, readTexts());

beforeAll(async () => {
  service = await startFalseService();
  for (const [id, count] of [
    ['auth', 5],
    ['idle', 4],
    ['payments', 6],
  ] as const)
    service.streams.set(id, { entries: entriesOf(id, count) });
  for (const period of ['2026-09', '2026-10']) expect((await service.export({ period })).code).toBe(0);
  service.streams.delete('idle');
  service.streams.set('auth', { entries: entriesOf('auth', 2, 'somebody else') });
  expect((await service.export({ 'all-time': true, request: 'changed' })).code).toBe(1);
  for (const id of ['idle', 'auth'])
    expect((await typed('ledger', 'accept', id, '--reason', `OPS-7 of ${id}`)).code).toBe(0);
});
afterAll(() => service.close());

const accepted = (id: string, head: number) =>
  new RegExp(
    `${id}[:;] .*a restart or an end after entry ${head} of run 2026-10 was accepted on .* by .*: OPS-7 of ${id}`,
  );

test('of a stream that was missed, and whose end was accepted since, nobody is told to have that recorded', async () => {
  const other = await startFalseService();
  try {
    for (const id of ['idle', 'moved', 'stays']) other.streams.set(id, { entries: entriesOf(id, 2) });
    expect((await other.export({ 'all-time': true, request: 'first' })).code).toBe(0);
    for (const id of ['idle', 'moved']) other.streams.delete(id);
    expect((await other.export({ 'all-time': true, request: 'second' })).code).toBe(1);
    const at = { cwd: other.directory, env: { ...env(), EVIDENCE_AUDIT_URL: other.url } };
    expect((await evidence(['ledger', 'accept', 'idle', '--reason', 'R'], at)).code).toBe(0);
    const { document } = await other.verify();
    const { vanished } = document.runs.find(({ run_id }: { run_id: string }) => run_id === 'second');
    expect(vanished.map(({ finding }: { finding: { next_step: string } }) => finding.next_step)).toEqual([
      expect.stringMatching(/^Judge the reason: a restart or end of the stream was accepted on 2\S+ by \S+\./),
      expect.stringMatching(/record that: evidence ledger accept moved/),
    ]);
  } finally {
    await other.close();
  }
});

test('verify tells of what was accepted since the last run', async () => {
  const { code, stdout } = await typed('verify', 'evidence-archive');
  // The refuted run stays refuted.
  expect([code, stdout]).toEqual([1, expect.stringMatching(accepted('idle', 8))]);
  expect(stdout).toMatch(accepted('auth', 10));
});

describe('the run after that', () => {
  let printed: string;
  beforeAll(async () => {
    const { code, stdout } = await typed('export', '--all-time', '--request', 'next');
    expect(code).toBe(0);
    printed = stdout;
  });

  test('is told by export and verify, in words and in documents', async () => {
    const verified = await typed('verify', 'evidence-archive');
    expect(verified.code).toBe(1);
    for (const words of [printed, verified.stdout]) {
      expect(words).toMatch(accepted('auth', 10));
      expect(words).toMatch(accepted('idle', 8));
      expect(words).toMatch(
        /continuity\/accepted-missing auth: the stream now ends at entry 4; run 2026-10 exported it/,
      );
      expect(words).toMatch(/continuity\/accepted-missing idle: the service does not list the stream; run 2026-10 exp/);
    }
    const { document } = await service.verify();
    expect(document.acceptances).toMatchObject([
      { stream_id: 'idle', head: { sequence: 8, run_id: '2026-10' }, reason: 'OPS-7 of idle' },
      { stream_id: 'auth' },
    ]);
    const run = document.runs.find(({ run_id }: { run_id: string }) => run_id === 'next');
    expect(run.ended).toMatchObject([{ stream_id: 'idle', entries: 8, finding: { severity: 'warning' } }]);
    const [auth] = run.streams;
    expect(auth.claims.continuity).toMatchObject({ state: 'proved' });
    expect(auth.claims.continuity.basis).toMatch(
      /^contains entry 4, the head of run changed, unchanged; a restart .*: OPS-7 of auth$/,
    );
    expect(bare(auth.findings)).toEqual(['continuity/accepted-missing 5-10', 'continuity/accepted 10']);
  });

  test('says in its reports what is gone, and does not conclude that nothing is', () => {
    const { outcome, extent, provenance, proof } = viewOf('next');
    expect(outcome.sentences.join(' ')).toMatch(/^.*2 streams not compared with all earlier exports/);
    const { rows, missing } = extent.population;
    expect([missing.entries, missing.accepted, missing.acceptedEntries]).toEqual([0, 2, 6 + 8]);
    expect(rows.find(({ label }) => label.startsWith('In earlier exports, but known to be gone'))).toMatchObject({
      streams: 2,
      entries: 14,
    });
    expect(extent.exceptions).toMatchObject([
      {
        kind: 'ended',
        streamId: 'idle',
        reason: expect.stringMatching(/run 2026-10 exported it up to entry 8; a restart or an end .*: OPS-7 of idle/),
      },
    ]);
    const conclusion = provenance.ipe.find(({ label }) => label === 'Conclusion')?.lines ?? [];
    expect(conclusion[0]).toMatch(/^Not shown to be complete and accurate/);
    expect(conclusion).toContain('Agrees with all earlier exports, and joins them: 1 of 2');
    expect(conclusion.at(-1)).toMatch(/^Known missing: at least 14 entries in 2 streams that earlier exports have/);
    const continuity = proof.claims.find(({ name }) => name === 'continuity');
    expect(continuity?.remarks).toMatchObject([{ state: 'proved', streams: 1 }]);
    expect(proof.findings.groups.map(({ code }) => code)).toEqual([
      'continuity/accepted',
      'continuity/accepted-missing',
    ]);
  });

  test('once it stands, a run after it agrees with it alone', async () => {
    expect((await service.export({ 'all-time': true, request: 'last' })).code).toBe(0);
    const { code, document } = await service.verify();
    const run = document.runs.find(({ run_id }: { run_id: string }) => run_id === 'last');
    expect([code, run.streams[0].claims.continuity.basis]).toEqual([
      1,
      expect.stringMatching(
        /^contains entry 4, the head of run changed, unchanged; a restart or an end after entry 10 of /,
      ),
    ]);
    expect(run.ended).toMatchObject([{ stream_id: 'idle' }]);
  });
});

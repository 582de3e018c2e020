import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Altered } from '../support/altered-archive.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

/** An acceptance covers one contradiction that a run found. It does not permit rewriting. */

let service: FalseService;
beforeEach(async () => {
  service = await startFalseService();
  service.streams.set('auth', { entries: chainOf(4, 'a') });
  expect((await service.export({ 'all-time': true, request: 'first' })).code).toBe(0);
});
afterEach(() => service.close());

function chainOf(count: number, actor: string, before: readonly SentEntry[] = []): SentEntry[] {
  const entries = [...before];
  while (entries.length < count) {
    const timestamp = `2026-09-${String(entries.length + 1).padStart(2, '0')}T12:00:00.000Z`;
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: 'auth', actor, timestamp }));
  }
  return entries;
}

const accept = (stream = 'auth') =>
  evidence(['ledger', 'accept', stream, '--reason', 'restored from a backup'], {
    cwd: service.directory,
    env: { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_this_test' },
  });
const tell = (entries: SentEntry[]) => service.streams.set('auth', { entries });
const exported = async (request: string) => {
  const { code, document } = await service.export({ 'all-time': true, request });
  return { code, continuity: document.streams?.[0]?.claims.continuity };
};
const archive = () => join(service.directory, 'evidence-archive');
const ledger = () => readdirSync(join(archive(), 'ledger')).length;

describe('nothing is there to accept', () => {
  test.each([
    ['where no run contradicts', async () => {}],
    [
      'once it was accepted',
      async () => {
        tell(chainOf(3, 'b'));
        expect((await exported('second')).code).toBe(1);
        expect((await accept()).code).toBe(0);
      },
    ],
    [
      'once a run agreed with what was accepted',
      async () => {
        tell(chainOf(3, 'b'));
        expect((await exported('second')).code).toBe(1);
        expect((await accept()).code).toBe(0);
        expect((await exported('third')).code).toBe(0);
      },
    ],
    [
      'of a change that no run has seen',
      async () => {
        tell(chainOf(3, 'b'));
      },
    ],
  ])('%s', async (_words, prepare) => {
    await prepare();
    const before = ledger();
    const { code, stderr } = await accept();
    expect([code, stderr]).toEqual([2, expect.stringMatching(/nothing to accept|was already accepted at /)]);
    expect(ledger()).toBe(before);
  });
});

describe('after a contradiction was accepted', () => {
  const second = chainOf(3, 'b');
  beforeEach(async () => {
    tell(second);
    expect((await exported('second')).code).toBe(1);
    expect((await accept()).code).toBe(0);
  });

  test('a run that agrees with what was accepted is verified', async () => {
    tell(chainOf(5, 'b', second));
    expect(await exported('third')).toMatchObject({
      code: 0,
      continuity: {
        state: 'proved',
        basis: expect.stringMatching(/contains entry 3, the head of run second, unchanged/),
      },
    });
    const { document } = await service.verify();
    const third = document.runs.find(({ run_id }: { run_id: string }) => run_id === 'third');
    expect([third.streams[0].status, document.ledger.state]).toEqual(['verified', 'intact']);
  });

  test.each([
    ['rewritten again', chainOf(6, 'c')],
    ['rewritten as it was before', chainOf(4, 'a')],
    ['cut', chainOf(2, 'b')],
  ])('history %s refutes', async (_words, entries) => {
    tell(entries);
    expect(await exported('third')).toMatchObject({ code: 1, continuity: { state: 'refuted' } });
    // Accepting the first contradiction does not cover this one; an operator can accept it too.
    expect((await accept()).code).toBe(0);
    expect((await exported('fourth')).code).toBe(0);
  });

  test.each<[string, (altered: Altered) => void]>([
    ['what was seen', (a) => edit(a, (record) => (record.contradiction.seen.entries.head.hash = 'f'.repeat(64)))],
    ['the run', (a) => edit(a, (record) => (record.contradiction.run_id = 'first'))],
    ['the finding', (a) => edit(a, (record) => (record.contradiction.finding = 'continuity/gap'))],
    ['that anything was seen', (a) => edit(a, (record) => (record.contradiction.seen = null))],
  ])('an acceptance that was altered in %s is found, also if the ledger follows it', async (_words, change) => {
    change(new Altered(archive()));
    const { document } = await service.verify();
    expect(document.problems?.map(({ code }: { code: string }) => code) ?? document.objects.altered).not.toEqual([]);
    expect(JSON.stringify(document)).toMatch(/acceptances\/[^"]*"[^}]*accepts a finding|accepts a finding/);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a record as parsed JSON.
function edit(altered: Altered, change: (record: any) => void): void {
  altered.edit(altered.find('acceptances', '.json'), change);
  const { contradiction, stream_id } = altered.read(altered.find('acceptances', '.json'));
  const { seen } = contradiction;
  altered.edit('ledger/00000003.json', (entry) => {
    entry.seen = seen;
    entry.heads = seen === null ? {} : { [stream_id]: { ...seen.entries.head, run_id: seen.run_id } };
  });
  altered.recompute();
}

test('an acceptance that was interrupted before the ledger recorded it is named, and refutes nothing', async () => {
  tell(chainOf(3, 'b'));
  expect((await exported('second')).code).toBe(1);
  expect((await accept()).code).toBe(0);
  const recorded = await service.verify();
  rmSync(join(archive(), `ledger/${String(ledger()).padStart(8, '0')}.json`));
  const { document } = await service.verify();
  expect(document.findings).toEqual(recorded.document.findings);
  expect(document.warnings).toContainEqual(
    expect.stringMatching(/^acceptances\/auth-.* interrupted before the ledger/),
  );
  expect((await accept()).code).toBe(0);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

/** Months that were exported after their end, and have gained entries since. */

let service: FalseService;
const last = (entries: SentEntry[], timestamp: string) =>
  entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: 's', timestamp }));

beforeAll(async () => {
  service = await startFalseService();
  const entries: SentEntry[] = [];
  for (let day = 1; day <= 5; day++) last(entries, `2026-08-0${day}T12:00:00.000Z`);
  service.streams.set('s', { entries });
  for (const period of ['2026-08', '2026-09']) await service.export({ period });
  for (let day = 15; day <= 16; day++) last(entries, `2026-09-${day}T12:00:00.000Z`);
});
afterAll(() => service.close());

const MESSAGE =
  'entry 6 is dated 2026-09-15T12:00:00.000Z, within the period that run 2026-09 exported without any entry after it had ended';

test.each([
  ['an export of all time', { 'all-time': true, request: 'all' }],
  ['a revision of the month, though that export has told', { period: '2026-09', revise: true }],
])('is told by %s, and by verify', async (_words, flags) => {
  const exported = await service.export(flags);
  const { document } = await service.verify();
  const verified = document.runs.find(({ run_id }: { run_id: string }) => run_id === exported.document.run_id);
  for (const { streams } of [exported.document, verified]) {
    expect(streams[0].claims.continuity).toEqual({ state: 'unproved', code: 'period-grew', reason: MESSAGE });
    expect(streams[0].findings).toMatchObject([{ code: 'continuity/grown', severity: 'warning', sequence: 6 }]);
  }
});

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addMonths, lastEndedMonth, periodOfMonths } from '../../src/verifier/records/months.ts';
import { chainOf } from '../support/chain.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

/** Clocks of the exporter and the service that differ: the service's clock, which dates the entries, decides. */
const DAY = 86_400_000;
const NOW = Date.now();
const MONTH = lastEndedMonth(new Date(NOW));
const END = Date.parse(periodOfMonths(MONTH).to);
let service: FalseService;

beforeEach(async () => {
  service = await startFalseService();
  service.streams.set('payments/prod', { entries: chainOf(3) });
});
afterEach(async () => {
  await service.close();
  rmSync(service.directory, { recursive: true, force: true });
});

const archived = (name: string) => join(service.directory, 'evidence-archive', name);

describe('a month that has ended here and not at the service', () => {
  test.each([
    [true, 2 * DAY],
    [false, 2 * DAY],
    [false, 1000],
  ])('is refused, with both times (dry run: %s; %d ms before its end)', async (dryRun, before) => {
    service.date = new Date(END - before);
    const { code, said } = await service.export({ period: MONTH, 'dry-run': dryRun });
    expect([code, said]).toEqual([
      2,
      expect.stringContaining(`the service's clock shows ${new Date(END - before).toISOString()}`),
    ]);
    expect(existsSync(archived('runs'))).toBe(false);
  });

  const BEFORE = [-2, -1].map((count) => addMonths(MONTH, count));

  test.each([true, false])(
    'is refused by --missing, and keeps no other month from it (dry run: %s)',
    async (dryRun) => {
      const [first = '', second = ''] = BEFORE;
      service.date = new Date(END - 2 * DAY);
      const { document } = await service.export({ period: first });
      expect(document.missing_months.map(({ month }: { month: string }) => month)).toEqual([second]);
      const { code, document: told } = await service.export({ missing: true, 'dry-run': dryRun });
      expect(told.failed).toEqual([expect.objectContaining({ month: MONTH })]);
      expect(code).toBe(2);
      expect(existsSync(archived(`runs/${second}`))).toBe(!dryRun);
    },
  );

  test('is exported once it has ended there', async () => {
    service.date = new Date(END);
    const { document } = await service.export({ period: MONTH });
    expect(document.state).toBe('finalized');
  });
});

describe('a run of what there is until now', () => {
  test.each([
    ['ahead of', -20],
    ['behind', 20],
  ])(
    'by a clock that is 20 days %s that of the service goes up to its time, and says how they differ',
    async (direction, days) => {
      service.date = new Date(NOW + days * DAY);
      const { document: run } = await service.export({ 'all-time': true });
      const stated = service.date.toISOString().slice(0, 17);
      expect(run.begun_at_by_service).toContain(stated);
      expect(run.warnings).toEqual([
        {
          code: 'clock-skew',
          message: expect.stringContaining(
            `the clock of this machine was about 20 days ${direction} that of the service: `,
          ),
        },
      ]);
      const entry = JSON.parse(readFileSync(archived('ledger/00000001.json'), 'utf8'));
      expect(entry.coverage.until).toBe(run.begun_at_by_service);
      const { code, document } = await service.verify();
      expect([code, document.objects.altered]).toEqual([0, []]);
    },
  );

  test('by clocks that agree says nothing of them', async () => {
    const { document: run } = await service.export({ 'all-time': true });
    expect(run.warnings).toEqual([]);
  });
});

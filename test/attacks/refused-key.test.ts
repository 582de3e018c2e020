import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '../support/chain.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

let service: FalseService;
beforeEach(async () => {
  service = await startFalseService();
});
afterEach(() => service.close());

/** Streams for which the service makes no package, and others. */
function serve({ refused, others = 0 }: { refused: number; others?: number }, status = 403): void {
  for (let number = 1; number <= refused + others; number++) {
    const id = `s${number}`;
    service.streams.set(id, {
      entries: chainOf(3, { stream_id: id }),
      ...(number <= refused ? { refused: status } : {}),
    });
  }
}

describe('a key without the right to have packages made', () => {
  test.each([
    ['export', () => service.export({ 'all-time': true })],
    ['dry run', () => service.export({ 'all-time': true, 'dry-run': true })],
    ['dry run of the missing months', () => service.export({ missing: true, 'dry-run': true })],
    ['doctor', () => service.doctor()],
  ])('%s ends with 5', async (_command, run) => {
    serve({ refused: 3 });
    expect((await run()).code).toBe(5);
  });

  test('is asked for no more than ten streams, and an export with the right goes on', async () => {
    serve({ refused: 14 });
    const { code, document } = await service.export({ 'all-time': true });
    expect(code).toBe(5);
    const untried = document.failed.filter(({ reason }: { reason: string }) => reason.startsWith('not tried'));
    expect([document.failed.length, untried.length]).toEqual([14, expect.any(Number)]);
    expect(untried.length).toBeGreaterThan(0);
    for (const told of service.streams.values()) delete told.refused;
    expect((await service.export({ 'all-time': true })).code).toBe(0);
    expect((await service.verify()).code).toBe(0);
  });

  test.each([
    [{ refused: 1, others: 1 }, 403, 5],
    [{ refused: 2 }, 401, 5],
    [{ refused: 2 }, 422, 3],
  ])('%j with status %i: %i', async (streams, status, expected) => {
    serve(streams, status);
    expect((await service.export({ 'all-time': true })).code).toBe(expected);
  });
});

test('a service that hides unknown streams by 403 passes the doctor', async () => {
  serve({ refused: 0, others: 1 });
  service.hidesUnknown = true;
  expect(await service.doctor()).toMatchObject({ code: 0 });
  expect((await service.export({ 'all-time': true })).code).toBe(0);
});

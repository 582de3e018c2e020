import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '../support/chain.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

let service: FalseService;
beforeEach(async () => {
  service = await startFalseService();
});
afterEach(() => service.close());

/** Serves streams whose packages the service refuses to make, and others. */
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

const forbid = (path: RegExp, status = 403) => {
  service.twist = (reply, asked) => (path.test(asked) ? { status } : reply);
};
const demand = (...names: string[]) =>
  writeFileSync(join(service.directory, 'evidence.yaml'), JSON.stringify({ verify: { require: names } }));
const PERIOD = { from: '2026-10-01', to: '2026-11-01' };

describe('a key that is refused elsewhere', () => {
  test.each([
    ['the list of entries', /^\/entries/, PERIOD],
    ['the JSON form', /^\/evidence\/.*\/json$/, { 'all-time': true }],
    ['every form', /^\/evidence\/(?!generate)/, { 'all-time': true }],
  ])('%s: the doctor, the dry run and the export end with 5', async (_what, path, period) => {
    serve({ refused: 0, others: 2 });
    demand('order', 'completeness');
    forbid(path);
    expect((await service.doctor()).code).toBe(5);
    expect((await service.export({ ...period, 'dry-run': true })).code).toBe(5);
    expect((await service.export(period)).code).toBe(5);
    service.twist = (reply) => reply;
    expect((await service.export(period)).code).toBe(0);
  });

  test('no more than ten packages are made for nothing', async () => {
    serve({ refused: 0, others: 14 });
    forbid(/^\/evidence\/(?!generate)/);
    expect((await service.export({ 'all-time': true })).code).toBe(5);
    const made = service.requests.filter(({ path }) => path === '/evidence/generate').length;
    expect(made).toBeLessThan(14);
  });

  test("the service's own check: an export does without, and the doctor says so", async () => {
    serve({ refused: 0, others: 1 });
    forbid(/\/verify$/);
    const { code, document } = await service.doctor();
    expect(code).toBe(3);
    expect(document.checks.filter(({ state }: { state: string }) => state === 'doubtful')).toMatchObject([
      { name: 'service', says: expect.stringContaining('its own check is not recorded') },
    ]);
    expect((await service.export({ 'all-time': true, 'dry-run': true })).code).toBe(0);
    expect((await service.export({ 'all-time': true })).code).toBe(0);
  });

  test('the list of entries, where a record shows as much: an export of all time is whole', async () => {
    serve({ refused: 0, others: 1 });
    demand('order', 'completeness');
    forbid(/^\/entries/);
    expect((await service.export({ 'all-time': true, 'dry-run': true })).code).toBe(0);
    expect((await service.export({ 'all-time': true })).code).toBe(0);
  });
});

test('a service that hides unknown packages and streams by 403 passes the doctor', async () => {
  serve({ refused: 0, others: 1 });
  service.hidesUnknown = true;
  service.twist = (reply, path, { path: whole }) =>
    (reply.status === 404 && path.startsWith('/evidence/')) || /entries\/?\?.*stream_id=evidence-doctor/.test(whole)
      ? { status: 403 }
      : reply;
  expect(await service.doctor()).toMatchObject({ code: 0 });
  expect((await service.export({ 'all-time': true, 'dry-run': true })).code).toBe(0);
  expect((await service.export({ 'all-time': true })).code).toBe(0);
});

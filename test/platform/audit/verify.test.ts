import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WireVerification } from '../../../src/platform/audit/wire.ts';
import { entry, fill, type Service, startService } from '../service.ts';

const ENTRIES = 1200;
const FAKE = 'f'.repeat(64);

let service: Service;
beforeEach(async () => {
  service = await startService();
  await fill(service, 's', ENTRIES);
  await fill(service, 'other', 3);
});
afterEach(() => service.close());

const verify = async (): Promise<WireVerification> => (await service.call('POST', '/streams/s/verify')).body;
const unlock = 'DROP TRIGGER entries_no_update; DROP TRIGGER entries_no_delete;';
const numberOf = (streamId: string) => `(SELECT stream_no FROM streams WHERE stream_id = '${streamId}')`;
const ofStream = `WHERE stream_no = ${numberOf('s')}`;
const at = (sequence: number) => `${ofStream} AND sequence = ${sequence}`;

test('an untouched stream is verified, and stays so while it grows', async () => {
  const outcome = await verify();
  expect(outcome).toMatchObject({ stream_id: 's', verified: true, entries_checked: ENTRIES, failures: [] });
  expect(outcome).toMatchObject({ from_sequence: 1, to_sequence: ENTRIES });
  await service.call('POST', '/entries/', entry('s', 1));
  const { body } = await service.call('GET', '/streams/s');
  expect(body).toMatchObject({
    verified: true,
    verification_status: 'verified',
    last_checked_at: outcome.checked_at,
    verified_through_sequence: ENTRIES,
    entry_count: ENTRIES + 1,
  });
  expect((await verify()).entries_checked).toBe(ENTRIES + 1);
});

test('entries appended during the walk do not disturb it', async () => {
  const running = verify();
  const appends = Array.from({ length: 20 }, (_, number) => service.call('POST', '/entries/', entry('s', number)));
  expect((await running).failures).toEqual([]);
  await Promise.all(appends);
});

test('checks are kept, and listed newest first', async () => {
  const made: WireVerification[] = [];
  for (let count = 0; count < 3; count++) made.unshift(await verify());
  const listed = async (query: string) => (await service.call('GET', `/streams/s/verifications${query}`)).body;
  const first = await listed('?limit=2');
  expect(first.data).toEqual(made.slice(0, 2));
  expect(await listed(`?limit=2&cursor=${first.next_cursor}`)).toEqual({ data: made.slice(2), next_cursor: null });
  expect((await service.call('GET', `/verifications/${made[1]?.verification_id}`)).body).toEqual(made[1]);
  expect((await service.call('GET', '/streams/other/verifications')).body.data).toEqual([]);
  await service.sql(`UPDATE verifications SET verified = 0 WHERE verification_id = '${made[1]?.verification_id}'`);
  expect((await service.call('GET', `/verifications/${made[1]?.verification_id}`)).status).toBe(404);
  expect((await listed('')).data).toEqual([made[0], made[2]]);
});

describe('an edit of the database is found', () => {
  test('with what was expected and what was there', async () => {
    await service.sql(`${unlock} UPDATE entries SET seal = '${FAKE}' ${at(5)}; DELETE FROM entries ${at(8)}`);
    const { failures } = await verify();
    // The report omits the correct seal, because it would let a changed entry pass.
    expect(failures[0]).toEqual({ code: 'seal_mismatch', sequence: 5, expected: null, actual: FAKE });
    expect(failures[1]).toEqual({ code: 'sequence_gap', sequence: 8, expected: '8', actual: '9' });
  });

  test('everywhere: a thousand failures are told, the rest counted', async () => {
    await service.sql(`${unlock} UPDATE entries SET actor = 'x' ${ofStream}`);
    const { failures } = await verify();
    expect(failures).toHaveLength(1001);
    expect(failures.at(-1)).toMatchObject({ code: 'more_failures', actual: `${ENTRIES - 1000} more` });
  });
});

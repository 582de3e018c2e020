import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WireVerification } from '../../src/core/wire.ts';
import { entry, fill, type Service, startService } from './service.ts';

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

describe('an edit of the database is found', () => {
  const text = ['actor', 'action', 'resource_type', 'resource_id', 'timestamp', 'occurred_at', 'entry_id'];
  test.each<[string, string, string[]]>([
    ...text.map((column): [string, string, string[]] => [
      `${column} edited`,
      `UPDATE entries SET ${column} = 'x' ${at(700)}`,
      ['hash_mismatch 700'],
    ]),
    ['metadata edited', `UPDATE entries SET metadata = '{}' ${at(700)}`, ['hash_mismatch 700']],
    ['metadata respelled', `UPDATE entries SET metadata = metadata || ' ' ${at(700)}`, ['hash_mismatch 700']],
    [
      'prev_hash edited',
      `UPDATE entries SET prev_hash = '${FAKE}' ${at(700)}`,
      ['broken_link 700', 'hash_mismatch 700'],
    ],
    [
      'hash edited',
      `UPDATE entries SET hash = '${FAKE}' ${at(700)}`,
      ['hash_mismatch 700', 'seal_mismatch 700', 'broken_link 701'],
    ],
    ['seal edited', `UPDATE entries SET seal = '${FAKE}' ${at(700)}`, ['seal_mismatch 700']],
    [
      'seal key edited',
      `UPDATE entries SET seal_key_id = 'e9-0' ${at(700)}`,
      ['hash_mismatch 700', 'unknown_seal_key 700'],
    ],
    ['first entry edited', `UPDATE entries SET actor = 'x' ${at(1)}`, ['hash_mismatch 1']],
    [
      'one deleted',
      `DELETE FROM entries ${at(700)}`,
      ['sequence_gap 700', 'broken_link 701', `count_mismatch ${ENTRIES}`],
    ],
    [
      'several deleted',
      `DELETE FROM entries ${ofStream} AND sequence BETWEEN 500 AND 999`,
      ['sequence_gap 500', 'broken_link 1000', `count_mismatch ${ENTRIES}`],
    ],
    ['first deleted', `DELETE FROM entries ${at(1)}`, ['sequence_gap 1', 'broken_link 2', `count_mismatch ${ENTRIES}`]],
    ['last deleted', `DELETE FROM entries ${at(ENTRIES)}`, [`head_mismatch ${ENTRIES}`, `count_mismatch ${ENTRIES}`]],
    ['all deleted', `DELETE FROM entries ${ofStream}`, [`head_mismatch ${ENTRIES}`, `count_mismatch ${ENTRIES}`]],
    [
      'moved to another stream',
      `UPDATE entries SET stream_no = ${numberOf('other')} ${at(700)}`,
      ['sequence_gap 700', 'broken_link 701', `count_mismatch ${ENTRIES}`],
    ],
    [
      'taken from another stream',
      `UPDATE entries SET stream_no = ${numberOf('s')}, sequence = ${ENTRIES + 1} WHERE stream_no = ${numberOf('other')} AND sequence = 1`,
      [
        `broken_link ${ENTRIES + 1}`,
        `hash_mismatch ${ENTRIES + 1}`,
        `unknown_seal_key ${ENTRIES + 1}`,
        `head_mismatch ${ENTRIES}`,
        `count_mismatch ${ENTRIES}`,
      ],
    ],
    [
      'two swapped',
      [
        `UPDATE entries SET sequence = 99999 ${at(10)}`,
        `UPDATE entries SET sequence = 10 ${at(11)}`,
        `UPDATE entries SET sequence = 11 ${at(99_999)}`,
      ].join(';'),
      ['broken_link 10', 'hash_mismatch 10', 'broken_link 11', 'hash_mismatch 11', 'broken_link 12'],
    ],
    [
      'head hash edited',
      `UPDATE streams SET head_hash = '${FAKE}' WHERE stream_id = 's'`,
      [`head_mismatch ${ENTRIES}`],
    ],
    ['head moved', "UPDATE streams SET head_sequence = 7 WHERE stream_id = 's'", ['head_mismatch 7']],
    ['count edited', "UPDATE streams SET entry_count = 7 WHERE stream_id = 's'", [`count_mismatch ${ENTRIES}`]],
  ])('%s', async (_name, edit, expected) => {
    service.sql(`${unlock} ${edit}`);
    const outcome = await verify();
    expect(outcome.failures.map(({ code, sequence }) => `${code} ${sequence}`)).toEqual(expected);
    expect(outcome.verified).toBe(false);
    const { body } = await service.call('GET', '/streams/s');
    const first = Math.min(...outcome.failures.map(({ sequence }) => sequence));
    expect(body).toMatchObject({ verified: false, verification_status: 'failed', last_checked_at: outcome.checked_at });
    expect(body.verified_through_sequence ?? 0).toBeLessThan(first);
    expect((await service.call('GET', '/stats')).body).toMatchObject({ failed_streams: 1 });
  });

  test('with what was expected and what was there', async () => {
    service.sql(`${unlock} UPDATE entries SET seal = '${FAKE}' ${at(5)}; DELETE FROM entries ${at(8)}`);
    const { failures } = await verify();
    expect(failures[0]).toMatchObject({
      code: 'seal_mismatch',
      actual: FAKE,
      expected: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(failures[1]).toEqual({ code: 'sequence_gap', sequence: 8, expected: '8', actual: '9' });
  });

  test('when the end was cut off and the head changed to fit, by an earlier checkpoint', async () => {
    await service.call('POST', '/streams/s/checkpoints');
    service.sql(`${unlock} DELETE FROM entries ${ofStream} AND sequence > 1000;
      UPDATE streams SET head_sequence = 1000, entry_count = 1000,
        head_hash = (SELECT hash FROM entries ${at(1000)}) WHERE stream_id = 's'`);
    const { failures } = await verify();
    expect(failures.map(({ code, sequence }) => `${code} ${sequence}`)).toEqual([`checkpoint_mismatch ${ENTRIES}`]);
  });

  test('everywhere: a thousand failures are told, the rest counted', async () => {
    service.sql(`${unlock} UPDATE entries SET actor = 'x' ${ofStream}`);
    const { failures } = await verify();
    expect(failures).toHaveLength(1001);
    expect(failures.at(-1)).toMatchObject({ code: 'more_failures', actual: `${ENTRIES - 1000} more` });
  });
});

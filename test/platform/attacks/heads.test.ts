import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runPlatform } from '../command.ts';
import { entry, fill, type Service, startService } from '../service.ts';
import { edit, readValue } from './attack.ts';

const NUMBER = "(SELECT stream_no FROM streams WHERE stream_id = 's')";
const UNLOCK = 'DROP TRIGGER IF EXISTS entries_no_update; DROP TRIGGER IF EXISTS entries_no_delete';
const TABLES = ['streams', 'entries', 'entry_hours', 'checkpoints', 'verifications', 'packages', 'totals', 'head_sums'];
const FORGED = 'f'.repeat(64);

let service: Service;
beforeAll(async () => {
  service = await startService();
  await service.call('POST', '//keys/', { name: 'k', preset: 'auditor' });
  await fill(service, 's', 10);
  await fill(service, 'other', 5);
  await service.call('POST', '/streams/s/checkpoints');
  await service.call('POST', '/streams/s/verify');
  await service.call('POST', '/evidence/generate', { stream_id: 's' });
  edit(service, UNLOCK, ...TABLES.map((table) => `CREATE TABLE old_${table} AS SELECT * FROM ${table}`));
  await fill(service, 's', 3);
  await service.call('POST', '/streams/s/checkpoints');
  await service.call('POST', '/evidence/generate', { stream_id: 's' });
  await fill(service, 'other', 1);
  await service.call('POST', '/streams/s/verify');
  edit(service, ...TABLES.map((table) => `CREATE TABLE now_${table} AS SELECT * FROM ${table}`));
});
afterAll(() => service.close());

/** Returns the codes that fsck prints. */
async function fsck(): Promise<string[]> {
  const { stdout } = await runPlatform(['fsck', '--data', service.dataDir]);
  return [...new Set(Array.from(stdout.matchAll(/audit: (\w+): /g), ([, code]) => code ?? ''))].sort();
}

/** Puts everything in its place again. */
function mend(): void {
  const back = TABLES.flatMap((table) => [`DELETE FROM ${table}`, `INSERT INTO ${table} SELECT * FROM now_${table}`]);
  edit(service, 'PRAGMA foreign_keys = OFF', ...back);
}

const old = (table: string, where = `stream_no = ${NUMBER}`) =>
  `DELETE FROM ${table} WHERE ${where}; INSERT INTO ${table} SELECT * FROM old_${table} WHERE ${where}`;
const STREAM = ['streams', 'entries', 'entry_hours', 'checkpoints', 'verifications', 'packages']
  .map((table) => old(table))
  .join(';');
const SUMS = old('head_sums', '1 = 1');
const TOTALS = old('totals', '1 = 1');
const without = (streamId: string) =>
  ['entries', 'entry_hours', 'checkpoints', 'verifications', 'packages', 'streams']
    .map(
      (table) =>
        `DELETE FROM ${table} WHERE stream_no = (SELECT stream_no FROM streams WHERE stream_id = '${streamId}')`,
    )
    .join(';');
const lane = (change: string, at = 0) => `UPDATE head_sums SET ${change} WHERE lane = ${at}`;
const swap = (table: string, column: string) =>
  `UPDATE ${table} SET ${column} = (SELECT ${column} FROM ${table} AS other WHERE other.stream_no = ${table}.stream_no AND other.number = 3 - ${table}.number) WHERE stream_no = ${NUMBER}`;

const EDITS: readonly (readonly [name: string, edit: string, code: string])[] = [
  ['a stream was put back with all its rows', STREAM, 'heads_mismatch'],
  ['a stream was put back with the totals', `${STREAM};${TOTALS}`, 'heads_mismatch'],
  ['a stream was put back with the sums', `${STREAM};${SUMS}`, 'heads_mismatch'],
  ['a stream was put back with the sums and the totals', `${STREAM};${SUMS};${TOTALS}`, 'heads_mismatch'],
  ['the sums were put back alone', SUMS, 'heads_mismatch'],
  ['a stream was put back, and the sums removed', `${STREAM}; DELETE FROM head_sums`, 'heads_mismatch'],
  ['a stream was removed', without('other'), 'heads_mismatch'],
  ['a stream was removed with the sums', `${without('other')}; DELETE FROM head_sums`, 'heads_mismatch'],
  [
    'a stream was removed, and counted',
    `${without('other')}; UPDATE totals SET streams = streams - 1`,
    'totals_changed',
  ],
  ['a stream was removed with the totals', `${without('other')}; DELETE FROM totals`, 'totals_changed'],
  ['the record of acts was removed', without('platform/administration'), 'heads_mismatch'],
  [
    'all streams were removed',
    `${without('s')};${without('other')};${without('platform/administration')}`,
    'heads_mismatch',
  ],
  [
    'two lanes were swapped',
    'UPDATE head_sums SET lane = 9 - lane WHERE lane IN (1, 8); UPDATE head_sums SET lane = 99 WHERE lane = 0; UPDATE head_sums SET lane = 0 WHERE lane = 1; UPDATE head_sums SET lane = 1 WHERE lane = 99',
    'heads_mismatch',
  ],
  ['a lane has another sum', lane(`sum = '${FORGED}'`), 'heads_mismatch'],
  ['a lane has the seal of another', lane('seal = (SELECT seal FROM head_sums WHERE lane = 1)'), 'heads_mismatch'],
  ['a lane changed less often', lane('changes = changes - 1'), 'heads_mismatch'],
  ['a lane saw nothing', lane("seen = '[ ]'"), 'heads_mismatch'],
  ['a lane that was never used changed', lane(`sum = '${FORGED}'`, 5), 'heads_mismatch'],
  [
    'two heads were swapped',
    `UPDATE streams SET head_seal = (SELECT head_seal FROM streams AS other WHERE other.stream_id != streams.stream_id AND other.stream_id NOT LIKE 'platform/%') WHERE stream_id IN ('s', 'other')`,
    'head_seal_mismatch',
  ],
  [
    'two streams were renamed',
    "UPDATE streams SET stream_id = 'x' WHERE stream_id = 's'; UPDATE streams SET stream_id = 's' WHERE stream_id = 'other'; UPDATE streams SET stream_id = 'other' WHERE stream_id = 'x'",
    'head_seal_mismatch',
  ],
  ['the tokens of two checkpoints were swapped', swap('checkpoints', 'token'), 'checkpoint_token_mismatch'],
  ['the times of two anchors were swapped', swap('checkpoints', 'gen_time'), 'checkpoint_seal_mismatch'],
  ['the seals of two checkpoints were swapped', swap('checkpoints', 'seal'), 'checkpoint_seal_mismatch'],
  ['the digests of two checkpoints were swapped', swap('checkpoints', 'hash'), 'checkpoint_mismatch'],
  [
    'an anchor is said to be of an external authority',
    `UPDATE checkpoints SET authority = 'external', tsa_url = 'https://tsa.example' WHERE stream_no = ${NUMBER}`,
    'checkpoint_seal_mismatch',
  ],
  ['the seals of two packages were swapped', swap('packages', 'seal'), 'package_seal_mismatch'],
  ['the facts of two packages were swapped', swap('packages', 'head'), 'package_seal_mismatch'],
  [
    'the last package was removed',
    `DELETE FROM packages WHERE stream_no = ${NUMBER} AND number = 2`,
    'package_missing',
  ],
  [
    'the last check was removed',
    `UPDATE streams SET verification_no = NULL; DELETE FROM verifications WHERE stream_no = ${NUMBER} AND number = 2`,
    'verification_missing',
  ],
  [
    'a check was moved to another stream',
    `UPDATE verifications SET stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'other') WHERE stream_no = ${NUMBER} AND number = 1`,
    'verification_missing',
  ],
  [
    'an hour counts fewer entries',
    `UPDATE entry_hours SET entries = entries - 1 WHERE stream_no = ${NUMBER}`,
    'hour_mismatch',
  ],
  [
    'hours of a stream were moved to another',
    `UPDATE entry_hours SET entries = entries + 13 WHERE stream_no != ${NUMBER}; DELETE FROM entry_hours WHERE stream_no = ${NUMBER}`,
    'hour_mismatch',
  ],
];

describe('fsck finds that', () => {
  test.each(EDITS)('%s', async (_name, change, code) => {
    edit(service, change);
    try {
      expect(await fsck()).toContain(code);
    } finally {
      mend();
    }
  });

  test('and nothing else', async () => {
    expect(await fsck()).toEqual([]);
  });
});

describe('fsck --accept', () => {
  const accept = (reason = 'restored') => runPlatform(['fsck', '--data', service.dataDir, '--accept', reason]);
  const accepted = () => readValue(service, "SELECT count(*) FROM entries WHERE action = 'heads.accepted'");

  test('accepts nothing, and records nothing, if everything fits', async () => {
    expect((await accept()).stdout).toContain('nothing to accept');
    expect(accepted()).toBe('0');
  });

  test.each([
    [
      'an entry that was changed',
      `UPDATE entries SET actor = 'root' WHERE stream_no = ${NUMBER} AND sequence = 2`,
      'hash_mismatch',
    ],
    ['a head that was changed', `UPDATE streams SET entry_count = 7 WHERE stream_id = 's'`, 'head_seal_mismatch'],
    [
      'a checkpoint that was removed',
      `DELETE FROM checkpoints WHERE stream_no = ${NUMBER} AND number = 2`,
      'checkpoint_missing',
    ],
    [
      'a package that was changed',
      `UPDATE packages SET title = 'x' WHERE stream_no = ${NUMBER}`,
      'package_seal_mismatch',
    ],
  ])('does not make good %s', async (_name, change, code) => {
    edit(service, change);
    try {
      await accept();
      expect(await fsck()).toContain(code);
    } finally {
      mend();
    }
  });

  test('without a reason accepts nothing', async () => {
    edit(service, STREAM);
    const { code } = await accept('');
    expect([code === 0, accepted()]).toEqual([false, '0']);
    expect(await fsck()).toContain('heads_mismatch');
    mend();
  });

  test('of a stream that was put back is recorded, and entries go on', async () => {
    edit(service, STREAM);
    expect((await accept('put back from a copy')).code).toBe(0);
    expect(accepted()).toBe('1');
    expect(await fsck()).not.toContain('heads_mismatch');
    expect((await service.call('POST', '/entries/', entry('s', 99))).status).toBe(201);
  });
});

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../support/process.ts';
import { usePostgres } from '../../support/shared-postgres.ts';
import { inTurn, someRows } from '../../support/some-rows.ts';
import { migratedPostgres } from '../database/databases.ts';
import { entry, fill, type Service, startService } from '../service.ts';

/** A service with a writable database, as an attacker with database access has. */
interface Editable {
  service: Service;
  sql(statements: string): Promise<unknown>;
  /** Removes the protection against changes of entries. */
  unlock: string;
  close(): Promise<void>;
}

const ENTRIES = 60;
const FAKE = 'f'.repeat(64);

async function onSqlite(): Promise<Editable> {
  const service = await startService();
  const file = join(service.dataDir, 'platform.sqlite');
  return {
    service,
    sql: (statements) => run('sqlite3', ['-bail', '-cmd', '.timeout 5000', file, statements]),
    unlock: 'DROP TRIGGER entries_no_update; DROP TRIGGER entries_no_delete;',
    close: () => service.close(),
  };
}

async function onPostgres(): Promise<Editable> {
  const server = await usePostgres();
  const postgresUrl = await server.create((await migratedPostgres()).url);
  const service = await startService({ postgresUrl });
  return {
    service,
    sql: (statements) => server.query(postgresUrl, statements),
    unlock: 'DROP TRIGGER entries_never_changed ON entries;',
    async close() {
      await service.close();
      await server.close();
    },
  };
}

const NUMBER = "(SELECT stream_no FROM streams WHERE stream_id = '$s')";
const OF_STREAM = `WHERE stream_no = ${NUMBER}`;
const at = (sequence: number) => `${OF_STREAM} AND sequence = ${sequence}`;
const head = (change: string) => `UPDATE streams SET ${change} WHERE stream_id = '$s'`;
const cutAt = (last: number) => `DELETE FROM entries ${OF_STREAM} AND sequence > ${last};
  ${head(`head_sequence = ${last}, entry_count = ${last}, head_hash = (SELECT hash FROM entries ${at(last)})`)}`;
/** Changes the second of a stream's checkpoints, which are at 20, 40 and 60. */
const checkpoint = (change: string) => `UPDATE checkpoints SET ${change} ${OF_STREAM} AND number = 2`;

const withoutCheck = `${head('verification_no = NULL')}; DELETE FROM verifications ${OF_STREAM}`;

const TEXTS = ['actor', 'action', 'resource_type', 'resource_id', 'timestamp', 'occurred_at', 'entry_id'];

/** Edits, with the codes and sequence numbers that Verify reports. */
const EDITS: readonly (readonly [name: string, edit: string, expected: readonly string[]])[] = [
  ...TEXTS.map(
    (column) =>
      [
        `${column} edited`,
        `UPDATE entries SET ${column} = 'x' ${at(30)}`,
        ['hash_mismatch 30', ...(column === 'timestamp' ? ['hour_mismatch 60'] : [])],
      ] as const,
  ),
  ['metadata edited', `UPDATE entries SET metadata = '{}' ${at(30)}`, ['hash_mismatch 30']],
  ['metadata respelled', `UPDATE entries SET metadata = metadata || ' ' ${at(30)}`, ['hash_mismatch 30']],
  ['prev_hash edited', `UPDATE entries SET prev_hash = '${FAKE}' ${at(30)}`, ['broken_link 30', 'hash_mismatch 30']],
  [
    'hash edited',
    `UPDATE entries SET hash = '${FAKE}' ${at(30)}`,
    ['hash_mismatch 30', 'seal_mismatch 30', 'broken_link 31'],
  ],
  ['seal edited', `UPDATE entries SET seal = '${FAKE}' ${at(30)}`, ['seal_mismatch 30']],
  ['seal key edited', `UPDATE entries SET seal_key_id = 'e9-0' ${at(30)}`, ['hash_mismatch 30', 'unknown_seal_key 30']],
  ['first entry edited', `UPDATE entries SET actor = 'x' ${at(1)}`, ['hash_mismatch 1']],
  [
    'one deleted',
    `DELETE FROM entries ${at(30)}`,
    ['sequence_gap 30', 'broken_link 31', 'count_mismatch 60', 'hour_mismatch 60'],
  ],
  [
    'several deleted',
    `DELETE FROM entries ${OF_STREAM} AND sequence BETWEEN 21 AND 39`,
    ['sequence_gap 21', 'broken_link 40', 'count_mismatch 60', 'hour_mismatch 60'],
  ],
  [
    'first deleted',
    `DELETE FROM entries ${at(1)}`,
    ['sequence_gap 1', 'broken_link 2', 'count_mismatch 60', 'hour_mismatch 60'],
  ],
  [
    'last deleted',
    `DELETE FROM entries ${at(60)}`,
    ['checkpoint_mismatch 60', 'head_mismatch 60', 'count_mismatch 60', 'hour_mismatch 60'],
  ],
  [
    'all deleted',
    `DELETE FROM entries ${OF_STREAM}`,
    [
      ...['checkpoint_mismatch 20', 'checkpoint_mismatch 40', 'checkpoint_mismatch 60'],
      ...['head_mismatch 60', 'count_mismatch 60', 'hour_mismatch 60'],
    ],
  ],
  [
    'moved to another stream',
    `UPDATE entries SET sequence = 1000000 + stream_no, stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'other') ${at(30)}`,
    ['sequence_gap 30', 'broken_link 31', 'count_mismatch 60', 'hour_mismatch 60'],
  ],
  [
    'taken from another stream',
    `UPDATE entries SET stream_no = ${NUMBER}, sequence = 61 WHERE sequence = 1 AND stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'giving')`,
    [
      'broken_link 61',
      'hash_mismatch 61',
      'order_mismatch 61',
      'unknown_seal_key 61',
      'head_mismatch 60',
      'count_mismatch 60',
      'hour_mismatch 60',
    ],
  ],
  [
    'two swapped',
    [
      [99, 10],
      [10, 11],
      [11, 99],
    ]
      .map(([to, from]) => `UPDATE entries SET sequence = ${to} ${at(from ?? 0)}`)
      .join(';'),
    ['broken_link 10', 'hash_mismatch 10', 'broken_link 11', 'hash_mismatch 11', 'order_mismatch 11', 'broken_link 12'],
  ],
  ['head hash edited', head(`head_hash = '${FAKE}'`), ['head_mismatch 60', 'head_seal_mismatch 60']],
  ['head moved', head('head_sequence = 7'), ['head_mismatch 7', 'head_seal_mismatch 7']],
  ['count edited', head('entry_count = 7'), ['count_mismatch 60', 'head_seal_mismatch 60']],
  ['the time of the last entry edited', head("last_entry_at = '2031-01-01T00:00:00.000Z'"), ['head_seal_mismatch 60']],
  ['the time of its beginning edited', head("created_at = '2001-01-01T00:00:00.000Z'"), ['head_seal_mismatch 60']],
  [
    'end cut off after the last checkpoint, head made to fit',
    `DELETE FROM checkpoints ${OF_STREAM} AND number = 3; ${cutAt(50)}`,
    ['hour_mismatch 50', 'head_seal_mismatch 50', 'checkpoint_missing 50', 'anchor_missing 50'],
  ],
  [
    'end cut off before a checkpoint, head made to fit',
    cutAt(50),
    ['checkpoint_mismatch 60', 'hour_mismatch 50', 'head_seal_mismatch 50'],
  ],
  [
    'end and checkpoints cut off, head made to fit',
    `${cutAt(10)}; DELETE FROM checkpoints ${OF_STREAM}; ${head('checkpoint_count = 0, anchored_count = 0')}`,
    ['hour_mismatch 10', 'head_seal_mismatch 10'],
  ],
  [
    'checkpoint deleted',
    `DELETE FROM checkpoints ${OF_STREAM} AND number = 2`,
    ['checkpoint_missing 60', 'anchor_missing 60'],
  ],
  [
    'checkpoint deleted, those after it numbered anew',
    `DELETE FROM checkpoints ${OF_STREAM} AND number = 2; UPDATE checkpoints SET number = 2 ${OF_STREAM} AND number = 3`,
    ['checkpoint_seal_mismatch 60', 'checkpoint_missing 60', 'anchor_missing 60'],
  ],
  [
    'token made garbage',
    checkpoint("token = '$bytes'"),
    ['checkpoint_seal_mismatch 40', 'checkpoint_token_mismatch 40'],
  ],
  [
    'token of another checkpoint',
    checkpoint(`token = (SELECT token FROM checkpoints ${OF_STREAM} AND number = 1)`),
    ['checkpoint_seal_mismatch 40', 'checkpoint_token_mismatch 40'],
  ],
  [
    'token taken away',
    checkpoint("token = NULL, gen_time = NULL, status = 'pending', anchored_as = NULL"),
    ['checkpoint_seal_mismatch 40', 'anchor_missing 60'],
  ],
  [
    'time of an anchor edited',
    checkpoint("gen_time = '2020-01-01T00:00:00.000Z'"),
    ['checkpoint_seal_mismatch 40', 'checkpoint_token_mismatch 40'],
  ],
  [
    'development authority called external',
    checkpoint("authority = 'external'"),
    ['checkpoint_seal_mismatch 40', 'checkpoint_token_mismatch 40'],
  ],
  ['checkpoint moved', checkpoint('sequence = 10'), ['checkpoint_mismatch 10', 'checkpoint_seal_mismatch 10']],
  [
    'checkpoint of another hash',
    checkpoint(`hash = '${FAKE}'`),
    ['checkpoint_mismatch 40', 'checkpoint_seal_mismatch 40', 'checkpoint_token_mismatch 40'],
  ],
  ['a check edited', `UPDATE verifications SET entries_checked = 7 ${OF_STREAM}`, ['verification_seal_mismatch 60']],
  ['a check deleted', withoutCheck, ['verification_missing 60']],
  [
    'a check deleted, the count made to fit',
    `${withoutCheck}; ${head('verification_count = 0')}`,
    ['head_seal_mismatch 60'],
  ],
  [
    'a check numbered anew',
    `UPDATE verifications SET number = 7 ${OF_STREAM}`,
    ['verification_seal_mismatch 60', 'verification_missing 60'],
  ],
  [
    'a check taken out of the count',
    `UPDATE verifications SET number = 0 ${OF_STREAM}`,
    ['verification_seal_mismatch 60', 'verification_missing 60'],
  ],
  ['numbers by hour edited', `UPDATE entry_hours SET entries = entries + 1 ${OF_STREAM}`, ['hour_mismatch 60']],
  ['numbers by hour deleted', `DELETE FROM entry_hours ${OF_STREAM}`, ['hour_mismatch 60']],
  ['numbers by hour moved', `UPDATE entry_hours SET hour = '2020-01-01T00' ${OF_STREAM}`, ['hour_mismatch 60']],
  ['a package deleted', `DELETE FROM packages ${OF_STREAM} AND number = 1`, ['package_missing 60']],
  ['the last package deleted', `DELETE FROM packages ${OF_STREAM} AND number = 2`, ['package_missing 60']],
  [
    'all packages deleted, the count made to fit',
    `DELETE FROM packages ${OF_STREAM}; ${head('package_count = 0')}`,
    ['head_seal_mismatch 60'],
  ],
  [
    'a package numbered anew',
    `DELETE FROM packages ${OF_STREAM} AND number = 1; UPDATE packages SET number = 1 ${OF_STREAM}`,
    ['package_seal_mismatch 60', 'package_missing 60'],
  ],
  [
    'title of a package edited',
    `UPDATE packages SET title = 'x' ${OF_STREAM} AND number = 2`,
    ['package_seal_mismatch 60'],
  ],
  [
    'summary of a package edited',
    `UPDATE packages SET summary = '{}' ${OF_STREAM} AND number = 2`,
    ['package_seal_mismatch 60'],
  ],
  [
    'what a check found edited',
    `UPDATE verifications SET failures = '[1]' ${OF_STREAM}`,
    ['verification_seal_mismatch 60'],
  ],
];

/** Verify reads both databases alike, so each edit runs on one of them. */
const TRIED = someRows(inTurn(EDITS, ['SQLite', 'PostgreSQL'] as const), ([[name]]) => name);

describe.each([
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
] as const)('an edit of %s', (name, start) => {
  let editable: Editable;
  let service: Service;
  let streams = 0;
  beforeAll(async () => {
    editable = await start();
    ({ service } = editable);
    await fill(service, 'refused', 3);
    await fill(service, 'other', 3);
    await fill(service, 'giving', 3);
  });
  afterAll(() => editable.close());

  const call = (method: string, path: string, body?: unknown) => service.call(method, path, body);

  /** Creates a verified stream with three anchors. */
  async function newStream(): Promise<string> {
    const streamId = `s${++streams}`;
    for (let part = 0; part < 3; part++) {
      await fill(service, streamId, ENTRIES / 3);
      await call('POST', `/streams/${streamId}/checkpoints`);
    }
    for (let count = 1; count <= 2; count++) await call('POST', '/evidence/generate', { stream_id: streamId });
    expect((await call('POST', `/streams/${streamId}/verify`)).body.failures).toEqual([]);
    return streamId;
  }

  const edit = (streamId: string, statements: string) =>
    editable.sql(statements.replaceAll('$s', streamId).replaceAll("'$bytes'", name === 'SQLite' ? "x'00'" : "'\\x00'"));

  test.each([
    `UPDATE entries SET actor = 'x' ${at(2)}`,
    `DELETE FROM entries ${at(2)}`,
    ...(name === 'SQLite' ? [`INSERT OR REPLACE INTO entries SELECT * FROM entries ${at(2)}`] : ['TRUNCATE entries']),
  ])('of entries is refused: %s', async (statement) => {
    await expect(edit('refused', statement)).rejects.toThrow(/rows of entries are never changed/);
  });

  describe('is found without what refuses it', () => {
    beforeAll(() => editable.sql(editable.unlock));

    test.each(TRIED.flatMap(([row, on]) => (on === name ? [row] : [])))('%s', async (_name, statements, expected) => {
      const streamId = await newStream();
      await edit(streamId, statements);
      const { body: outcome } = await call('POST', `/streams/${streamId}/verify`);
      const failures = outcome.failures as { code: string; sequence: number }[];
      expect(failures.map(({ code, sequence }) => `${code} ${sequence}`)).toEqual(expected);
      expect(outcome.verified).toBe(false);
      const { body } = await call('GET', `/streams/${streamId}`);
      expect(body).toMatchObject({ verification_status: 'failed', last_checked_at: outcome.checked_at });
      const first = Math.min(...failures.map(({ sequence }) => sequence));
      expect(body.verified_through_sequence ?? 0).toBeLessThan(first);
    });

    test('checks that were removed between others, by their numbers, also after what was put into their place', async () => {
      const streamId = await newStream();
      for (let check = 2; check <= 5; check++) await call('POST', `/streams/${streamId}/verify`);
      const number = (which: string) => `${OF_STREAM} AND number ${which}`;
      await edit(streamId, `DELETE FROM verifications ${number('IN (2, 3)')}`);
      const failures = async () => (await call('POST', `/streams/${streamId}/verify`)).body.failures;
      const missing = { code: 'verification_missing', sequence: ENTRIES, actual: null };
      expect(await failures()).toEqual([{ ...missing, expected: '2-3' }]);
      await edit(streamId, `UPDATE verifications SET number = 3 ${number('= 5')}`);
      expect(await failures()).toEqual([
        { ...missing, expected: '2' },
        { code: 'verification_seal_mismatch', sequence: ENTRIES, expected: null, actual: expect.any(String) },
        { ...missing, expected: '5' },
      ]);
    });

    test('a check of a head that was changed is recorded and not counted', async () => {
      const streamId = await newStream();
      const count = async () => (await call('GET', `/streams/${streamId}/verifications`)).body.data.length;
      await edit(streamId, head('anchored_count = 7'));
      for (let check = 2; check <= 3; check++)
        expect((await call('POST', `/streams/${streamId}/verify`)).body.verified).toBe(false);
      expect(await count()).toBe(3);
      await edit(streamId, head('anchored_count = 3'));
      for (let check = 4; check <= 5; check++)
        expect((await call('POST', `/streams/${streamId}/verify`)).body.failures).toEqual([]);
      expect(await count()).toBe(5);
    });

    test('a stream called otherwise', async () => {
      const streamId = await newStream();
      await edit(streamId, head("stream_id = 'renamed'"));
      const { body } = await call('POST', '/streams/renamed/verify');
      const codes = new Set((body.failures as { code: string }[]).map(({ code }) => code));
      expect([...codes].sort()).toEqual([
        ...['checkpoint_seal_mismatch', 'hash_mismatch', 'head_seal_mismatch', 'package_seal_mismatch'],
        ...['unknown_seal_key', 'verification_seal_mismatch'],
      ]);
    });

    test('a head that was changed gets no entry, no checkpoint and no new seal', async () => {
      const streamId = await newStream();
      await edit(streamId, cutAt(50));
      const appended = await call('POST', '/entries/', entry(streamId, 1));
      const anchored = await call('POST', `/streams/${streamId}/checkpoints`);
      for (const { status, body } of [appended, anchored]) {
        expect([status, body.code]).toEqual([409, 'stream_damaged']);
        expect(body.detail).toContain(`POST /streams/${streamId}/verify`);
      }
      const batch = await call('POST', '/entries/batch', { entries: [entry('sound', 1), entry(streamId, 1)] });
      expect(batch.status).toBe(409);
      expect((await call('GET', '/streams/sound')).status).toBe(404);
    });

    test('a check that is written by hand is none, and neither is one of another stream', async () => {
      const streamId = await newStream();
      await edit(streamId, `UPDATE entries SET actor = 'x' ${at(30)}`);
      await call('POST', `/streams/${streamId}/verify`);
      const shown = async () => (await call('GET', `/streams/${streamId}`)).body;
      expect(await shown()).toMatchObject({ verification_status: 'failed' });
      await edit(streamId, `UPDATE verifications SET verified = 1 ${OF_STREAM}`);
      expect(await shown()).toMatchObject({
        verified: false,
        verification_status: 'unverified',
        last_checked_at: null,
      });
      const other = await newStream();
      const ofOther = `(SELECT verification_no FROM streams WHERE stream_id = '${other}')`;
      await edit(streamId, head(`verification_no = ${ofOther}`));
      expect(await shown()).toMatchObject({ verified: false, verification_status: 'unverified' });
    });

    test('a checkpoint that was changed is served as failed, also in a package', async () => {
      const streamId = await newStream();
      const { body: generated } = await call('POST', '/evidence/generate', { stream_id: streamId });
      await edit(streamId, checkpoint("authority = 'external'"));
      const { body: listed } = await call('GET', `/streams/${streamId}/checkpoints`);
      const { body: packed } = await call('GET', `/evidence/${generated.package_id}/json`);
      for (const checkpoints of [listed.data, packed.checkpoints])
        expect(checkpoints.map(({ anchor }: { anchor: { status: string } }) => anchor.status)).toEqual([
          ...['anchored', 'failed', 'anchored'],
        ]);
      const { body: later } = await call('POST', '/evidence/generate', { stream_id: streamId });
      const { body: summary } = await call('GET', `/evidence/${later.package_id}/summary`);
      expect(summary.limitations.join()).toContain('Some checkpoints of this package were changed outside');
    });

    test.each(['head', 'summary', 'title', 'entry_count', 'last_sequence'])('the %s of a package', async (column) => {
      const { body } = await call('POST', '/evidence/generate', { stream_id: 'refused' });
      const value = column === 'head' || column === 'summary' ? `${column} || ' '` : column === 'title' ? "'x'" : '1';
      await editable.sql(`UPDATE packages SET ${column} = ${value} WHERE package_id = '${body.package_id}'`);
      for (const form of ['', '/json', '/summary', '/pdf']) {
        const answer = await call('GET', `/evidence/${body.package_id}${form}`);
        expect([answer.status, answer.body.code]).toEqual([409, 'package_damaged']);
      }
    });

    test('the digest of a package', async () => {
      const { body } = await call('POST', '/evidence/generate', { stream_id: 'refused' });
      const json = () => call('GET', `/evidence/${body.package_id}/json`);
      expect((await json()).status).toBe(200);
      await editable.sql(`UPDATE packages SET json_sha256 = '${FAKE}' WHERE package_id = '${body.package_id}'`);
      expect((await json()).body.code).toBe('package_damaged');
    });

    test('the PDF of a package', async () => {
      const { body } = await call('POST', '/evidence/generate', { stream_id: 'refused' });
      expect((await call('GET', `/evidence/${body.package_id}/pdf`)).status).toBe(200);
      await edit('', `UPDATE packages SET pdf = '$bytes' WHERE package_id = '${body.package_id}'`);
      expect((await call('GET', `/evidence/${body.package_id}/pdf`)).body.code).toBe('package_damaged');
    });

    test('a check that was removed: its stream is counted among those without one', async () => {
      const streamId = await newStream();
      await call('POST', `/streams/${streamId}/verify`);
      const stats = async () => (await call('GET', '/stats/')).body;
      const before = await stats();
      await edit(streamId, withoutCheck);
      expect(await stats()).toEqual({
        ...before,
        verified_streams: before.verified_streams - 1,
        unverified_streams: before.unverified_streams + 1,
        checks_changed: true,
      });
    });

    test('a stream that was removed with all its rows, and the count of streams', async () => {
      const streamId = await newStream();
      const missing = async () => (await call('GET', '/stats/')).body.missing_streams;
      const before = await missing();
      const tables = ['entries', 'entry_hours', 'checkpoints', 'packages', 'verifications'];
      const own = tables.map((table) => `DELETE FROM ${table} ${OF_STREAM}`);
      await edit(
        streamId,
        [head('verification_no = NULL'), ...own, `DELETE FROM streams WHERE stream_id = '$s'`].join(';'),
      );
      expect(await missing()).toBe(before + 1);
      await editable.sql('UPDATE totals SET streams = streams - 1');
      expect((await call('GET', '/stats/')).body).toMatchObject({ missing_streams: null, verified_streams: 0 });
      // A later stream does not reseal the edited totals.
      await fill(service, 'later', 1);
      expect(await missing()).toBeNull();
      await editable.sql('DELETE FROM totals');
      expect(await missing()).toBeNull();
    });
  });
});

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AppendDeps } from '../../../src/platform/audit/append.ts';
import { rotateSealKey } from '../../../src/platform/audit/rotation.ts';
import { hashEntry, sealHash } from '../../../src/platform/audit/rules.ts';
import { type DerivedSealKeys, sealKeyId } from '../../../src/platform/audit/seal-keys.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import type { WireEntry } from '../../../src/platform/audit/wire.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DomainError } from '../../../src/platform/errors.ts';
import { openPlace, openSealKeys, type PlatformPlace } from '../../../src/platform/setup.ts';
import { usePostgres } from '../../support/shared-postgres.ts';
import { recomputeInPython } from '../recomputed.ts';
import { entry, type Service, startService } from '../service.ts';

const places = [
  ['SQLite', async () => ({ postgresUrl: null, stop: async () => {} })],
  [
    'PostgreSQL',
    async () => {
      const server = await usePostgres();
      return { postgresUrl: await server.create(), stop: () => server.close() };
    },
  ],
] as const;

describe.each(places)('rotating a seal key on %s', (_name, start) => {
  let service: Service;
  let stop: () => Promise<void>;
  /** Database of another process. */
  let database: Database;
  let deps: AppendDeps;
  beforeAll(async () => {
    const { postgresUrl, stop: end } = await start();
    stop = end;
    service = await startService({ postgresUrl });
    const place: PlatformPlace = { dataDir: service.dataDir, postgresUrl };
    database = await openPlace(place);
    const keys = await openSealKeys(service.dataDir);
    deps = { keys, seals: new RowSeals(keys.ofRows()), clock: () => new Date() };
  });
  afterAll(async () => {
    await database.close();
    await service.close();
    await stop();
  });

  const append = (stream: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, at) => service.call('POST', '/entries/', entry(stream, at))));
  const entriesOf = async (stream: string): Promise<WireEntry[]> =>
    (await service.call('GET', `/entries/?stream_id=${stream}&limit=100`)).body.data;
  const verify = async (stream: string) => (await service.call('POST', `/streams/${stream}/verify`)).body;

  test('seals what comes next under another key, whoever appends it, and Verify knows both', async () => {
    await append('s', 3);
    expect(await rotateSealKey(database, deps, 's')).toEqual({
      from: sealKeyId('s', 1),
      to: sealKeyId('s', 2),
      sequence: 4,
    });
    await append('s', 2);
    await rotateSealKey(database, deps, 's');
    await append('s', 1);
    const entries = await entriesOf('s');
    const epochs = [1, 1, 1, 1, 2, 2, 2, 3];
    expect(entries.map(({ seal_key_id }) => seal_key_id)).toEqual(epochs.map((epoch) => sealKeyId('s', epoch)));
    for (const [at, { hash, seal }] of entries.entries())
      expect(seal).toBe(sealHash(deps.keys.of('s', epochs[at] ?? 0).key, hash));
    expect(entries[3]).toMatchObject({
      actor: 'evidence-platform',
      action: 'key.rotated',
      resource_type: 'seal_key',
      resource_id: sealKeyId('s', 2),
      metadata: { epoch: 2, from: sealKeyId('s', 1), to: sealKeyId('s', 2) },
    });
    expect(await verify('s')).toMatchObject({ verified: true, entries_checked: 8, failures: [] });
    const { body } = await service.call('POST', '/evidence/generate', { stream_id: 's' });
    const { text } = await service.call('GET', `/evidence/${body.package_id}/json`);
    const folder = mkdtempSync(join(tmpdir(), 'rotation-'));
    expect(await recomputeInPython(text, service.dataDir, folder)).toBe('8');
  });

  test('while many append makes no fork and no gap', async () => {
    await append('busy', 1);
    const writing = append('busy', 40);
    for (let times = 0; times < 3; times++) await rotateSealKey(database, deps, 'busy');
    await writing;
    expect(await verify('busy')).toMatchObject({ verified: true, entries_checked: 44, failures: [] });
    const epochs = (await entriesOf('busy')).map(({ seal_key_id }) => Number(/^e(\d)/.exec(seal_key_id)?.[1]));
    expect(epochs).toEqual([...epochs].sort());
    expect(new Set(epochs).size).toBeGreaterThanOrEqual(3);
  });

  test('who has the old key and the database can put nothing behind a rotation', async () => {
    await append('forged', 2);
    await rotateSealKey(database, deps, 'forged');
    await append('forged', 1);
    await forgeLast(database, deps.keys, 'forged', 1);
    const { verified, failures } = await verify('forged');
    const codes = failures.map(({ code, sequence }: { code: string; sequence: number }) => `${code} ${sequence}`);
    expect(verified).toBe(false);
    // The stream's row states the hash and the epoch, sealed with a key that is not handed out.
    expect(codes).toEqual(['seal_epoch_mismatch 4', 'head_mismatch 4', 'seal_epoch_mismatch 4']);
  });

  test('a stream that is not there is refused, and nobody else says that a key was rotated', async () => {
    await expect(rotateSealKey(database, deps, 'nowhere')).rejects.toThrow(DomainError);
    const rotated = { ...entry('s', 9), action: 'key.rotated', resource_type: 'seal_key' };
    for (const [path, body] of [
      ['/entries/', rotated],
      ['/entries/batch', { entries: [entry('s', 8), rotated] }],
    ] as const)
      expect((await service.call('POST', path, body)).body).toMatchObject({ status: 422, code: 'invalid_request' });
    expect((await service.call('POST', '/entries/', { ...rotated, resource_type: 'tls_key' })).status).toBe(201);
  });
});

/** Rewrites the last entry of a stream under another epoch's key. */
async function forgeLast(database: Database, keys: DerivedSealKeys, stream: string, epoch: number): Promise<void> {
  const { sql } = await import('kysely');
  const { EntryPages } = await import('../../../src/platform/audit/entry-rows.ts');
  const { findStream } = await import('../../../src/platform/audit/streams.ts');
  const row = await findStream(database, stream);
  const last = await new EntryPages(database).one(row, row.head_sequence);
  const { id, key } = keys.of(stream, epoch);
  const content = { ...last, actor: 'mallory', seal_key_id: id };
  const hash = hashEntry(content);
  const unlock = {
    sqlite: ['DROP TRIGGER entries_no_update', 'DROP TRIGGER entries_no_delete'],
    postgres: ['DROP TRIGGER entries_never_changed ON entries'],
  }[database.dialect];
  await database.write(async (transaction) => {
    const tables = transaction.tables();
    for (const statement of unlock) await sql.raw(statement).execute(tables);
    await sql`UPDATE entries SET actor = 'mallory', seal_key_id = ${id}, hash = ${hash}, seal = ${sealHash(key, hash)}
      WHERE stream_no = ${row.stream_no} AND sequence = ${last.sequence}`.execute(tables);
  });
}

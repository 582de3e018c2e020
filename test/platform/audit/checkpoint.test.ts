import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { Checkpoints } from '../../../src/platform/audit/checkpoints.ts';
import { RowSeals } from '../../../src/platform/audit/sealed-rows.ts';
import { checkpointSchema, type WireCheckpoint } from '../../../src/platform/audit/wire.ts';
import { openSqlite } from '../../../src/platform/database/sqlite.ts';
import { openSealKeys } from '../../../src/platform/setup.ts';
import { openDevelopmentAuthority } from '../../../src/platform/timestamp/authority.ts';
import type { TimestampAuthority } from '../../../src/platform/timestamp/exchange.ts';
import { remoteAuthority } from '../../../src/platform/timestamp/remote.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../../support/tsa.ts';
import { SEALER } from '../database/databases.ts';
import { fill, listAll, type Service, startService } from '../service.ts';

let folder: string;
let external: OpensslAuthority;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoint-'));
  external = await startOpensslAuthority(join(folder, 'tsa'));
});
afterAll(async () => {
  await external.close();
  await rm(folder, { recursive: true });
});

async function withService(options: Parameters<typeof startService>[0], work: (service: Service) => Promise<void>) {
  const service = await startService(options);
  try {
    await fill(service, 's', 3);
    await work(service);
  } finally {
    await service.close();
  }
}

/** Asks openssl whether the token covers the hash. */
async function opensslVerify({ hash, anchor }: WireCheckpoint, root: string): Promise<string> {
  const file = join(folder, `${hash}.tsr`);
  await writeFile(file, Buffer.from(anchor.token ?? '', 'base64'));
  return execFileSync('openssl', ['ts', '-verify', '-digest', hash, '-in', file, '-CAfile', root], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

describe('a checkpoint', () => {
  test('covers the head, by the development authority that says what it is', () =>
    withService({}, async (service) => {
      const { status, body } = await service.call('POST', '/streams/s/checkpoints');
      const stream = (await service.call('GET', '/streams/s')).body;
      expect(status).toBe(201);
      expect(checkpointSchema.parse(body)).toMatchObject({ stream_id: 's', sequence: 3, hash: stream.head_hash });
      expect(body.anchor).toMatchObject({ status: 'anchored', authority: 'development' });
      expect(Math.abs(Date.parse(body.anchor.gen_time) - Date.now())).toBeLessThan(10_000);
      expect(await opensslVerify(body, join(service.dataDir, 'authority', 'root.pem'))).toContain('Verification: OK');
    }));

  test('is anchored by the external authority it was told of', () =>
    withService({ tsaUrl: external.url }, async (service) => {
      const { body } = await service.call('POST', '/streams/s/checkpoints');
      expect(body.anchor).toMatchObject({ status: 'anchored', authority: 'external', tsa_url: external.url });
      expect(await opensslVerify(body, external.rootFile)).toContain('Verification: OK');
    }));

  test('is pending while the authority does not answer, and the package says so', () =>
    withService({ tsaUrl: 'http://127.0.0.1:9/' }, async (service) => {
      const { status, body } = await service.call('POST', '/streams/s/checkpoints');
      expect(status).toBe(201);
      expect(body.anchor).toMatchObject({ status: 'pending', authority: 'external', token: null, gen_time: null });
      expect((await service.call('GET', '/stats')).body).toMatchObject({ checkpoints: 1, pending_anchors: 1 });
      const { package_id } = (await service.call('POST', '/evidence/generate', { stream_id: 's' })).body;
      const { limitations } = (await service.call('GET', `/evidence/${package_id}/summary`)).body;
      expect(limitations.join()).toContain('Some checkpoints of this package are pending');
    }));

  test('of a head that has one of this authority is that one', () =>
    withService({}, async (service) => {
      const first = await service.call('POST', '/streams/s/checkpoints');
      const again = await service.call('POST', '/streams/s/checkpoints');
      expect([first.status, again.status, again.body]).toEqual([201, 200, first.body]);
      await fill(service, 's', 1);
      const other = await service.call('POST', '/streams/s/checkpoints');
      expect([other.status, other.body.sequence]).toEqual([201, 4]);
    }));

  test('is listed in pages, oldest first', () =>
    withService({}, async (service) => {
      const made = [];
      for (let number = 0; number < 5; number++) {
        made.push((await service.call('POST', '/streams/s/checkpoints')).body);
        await fill(service, 's', 1);
      }
      expect(await listAll(service, '/streams/s/checkpoints?limit=2')).toEqual(made);
    }));
});

test('streams that grew get a checkpoint on a schedule, and no other does', () =>
  withService({ checkpointMinutes: 1 }, async (service) => {
    const due = () => service.sql("UPDATE jobs SET due_at = '2026-01-01T00:00:00.000Z'");
    const count = async (streamId: string) => (await listAll(service, `/streams/${streamId}/checkpoints`)).length;
    await fill(service, 'grows', 1);
    await service.call('POST', '/streams/s/checkpoints');
    await fill(service, 'damaged', 1);
    await service.sql("UPDATE streams SET head_hash = 'x' WHERE stream_id = 'damaged'");
    await due();
    await vi.waitFor(async () => expect(await count('grows')).toBe(1), { timeout: 60_000 });
    await fill(service, 'grows', 1);
    await due();
    await vi.waitFor(async () => expect(await count('grows')).toBe(2), { timeout: 60_000 });
    expect([await count('s'), await count('damaged')]).toEqual([1, 0]);
    expect((await service.call('GET', '/stats/')).body).toMatchObject({ checkpoints: 3, pending_anchors: 0 });
  }));

describe('pending checkpoints', () => {
  test('are anchored once the authority answers, and only by the kind of authority they were meant for', () =>
    withService({ tsaUrl: 'http://127.0.0.1:9/' }, async (service) => {
      for (let number = 0; number < 3; number++) {
        await service.call('POST', '/streams/s/checkpoints');
        await fill(service, 's', 1);
      }
      const database = openSqlite(join(service.dataDir, 'platform.sqlite'), SEALER);
      const failures: unknown[] = [];
      const retryWith = async (authority: TimestampAuthority) => {
        const onFailure = (error: unknown) => void failures.push(error);
        const seals = new RowSeals((await openSealKeys(service.dataDir)).ofRows());
        await new Checkpoints({ database, seals, authority, clock: () => new Date(), onFailure }).retryPending();
        return (await service.call('GET', '/stats')).body.pending_anchors;
      };
      const down = new EvidenceError('unreachable', 'down');
      expect(await retryWith({ kind: 'external', url: 'x', stamp: () => Promise.reject(down) })).toBe(3);
      expect(failures).toEqual([down]);
      expect(await retryWith(await openDevelopmentAuthority(join(service.dataDir, 'authority')))).toBe(3);
      expect(await retryWith(remoteAuthority(external.url, { roots: [], clock: () => new Date() }))).toBe(0);
      database.close();
      for (const checkpoint of await listAll(service, '/streams/s/checkpoints')) {
        expect(checkpoint.anchor).toMatchObject({ status: 'anchored', authority: 'external', tsa_url: external.url });
        expect(await opensslVerify(checkpoint, external.rootFile)).toContain('Verification: OK');
      }
    }));
});

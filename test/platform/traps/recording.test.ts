import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TrapUse } from '../../../src/platform/traps/use.ts';
import { someRows } from '../../support/some-rows.ts';
import { DATABASES, type DatabasePlace, type MadeDatabase } from '../database/databases.ts';
import { SOMEBODY } from '../world.ts';
import { TrapPlace } from './trap-place.ts';

const MINUTE = 60_000;

describe.each(DATABASES)('on %s', (_name, start) => {
  let databases: DatabasePlace;
  let made: MadeDatabase;
  let at: TrapPlace;
  let trapNo: number;
  let credentialId: string;
  beforeAll(async () => {
    databases = await start();
  });
  afterAll(() => databases.close());
  beforeEach(async () => {
    made = await databases.createMigrated();
    at = new TrapPlace(made.database);
    ({ trapNo, credentialId } = await at.trap());
  });

  /** Expected occurrences per detection, for a second use after the first. */
  const FOLDS: readonly (readonly [words: string, expected: number[], second: (at: TrapPlace) => Partial<TrapUse>])[] =
    [
      ['the same client a little later', [2], (place) => later(place, 9 * MINUTE)],
      ['after a pause', [1, 1], (place) => later(place, 11 * MINUTE)],
      [
        'told late, of a little before',
        [2],
        (place) => ({ eventTime: new Date(place.now - 9 * MINUTE).toISOString() }),
      ],
      ['from another address', [1, 1], () => ({ sourceIp: '203.0.113.10' })],
      ['by another client', [1, 1], () => ({ userAgent: 'wget' })],
      ['by another channel', [2], () => ({ channel: 'file_read' })],
    ];
  test.each(FOLDS)('a second use, %s', async (_words, expected, second) => {
    await at.uses.record(at.use(trapNo));
    await at.uses.record(at.use(trapNo, second(at)));
    expect((await at.found()).map(({ occurrences }) => occurrences)).toEqual(expected);
  });

  test('uses without a pause are told of again after a day', async () => {
    for (let hour = 0; hour < 25 * 12; hour++) {
      await at.uses.record(at.use(trapNo));
      at.now += 5 * MINUTE;
    }
    const found = await at.found();
    expect(found.map(({ occurrences }) => occurrences).reverse()).toEqual([289, 11]);
  });

  test('a thousand uses in a minute are one detection with an exact count', async () => {
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        at.uses.record(at.use(trapNo, { eventTime: new Date(at.now + n * 60).toISOString(), request: `use ${n}` })),
      ),
    );
    const [only, ...others] = await at.found();
    expect(others).toEqual([]);
    expect(only).toMatchObject({
      occurrences: 1000,
      first_seen: '2026-11-22T00:00:00.000Z',
      last_seen: '2026-11-22T00:00:59.940Z',
      request_sha256: hash('sha256', 'use 0', 'hex'),
    });
    const { occurrences_kept } = await at.detections.find(only?.detection_id ?? '');
    const numbers = (from: number) => Array.from({ length: 100 }, (_, n) => from + n);
    expect(occurrences_kept.map(({ number }) => number)).toEqual([...numbers(1), ...numbers(901)]);
    expect(occurrences_kept.at(-1)?.request_sha256).toBe(hash('sha256', 'use 999', 'hex'));
  });

  test.each(someRows([1000, 10_000], () => 'a flood'))(
    'a flood of %i forged uses pushes no true one out',
    async (many) => {
      const forged = (n: number) => at.use(trapNo, { sourceIp: `2001:db8::${n.toString(16)}`, authVerified: false });
      const uses = Array.from({ length: many }, (_, n) => forged(n));
      uses.splice(many / 2, 0, at.use(trapNo, { depth: 'used', authVerified: true, sourceIp: '198.51.100.7' }));
      await Promise.all(uses.map((use) => at.uses.record(use)));
      expect((await at.found({ severity: 'critical' })).map(({ source_ip }) => source_ip)).toEqual(['198.51.100.7']);
      const [{ count }] = (await made.query('SELECT count(*) AS count FROM detections')) as [
        { count: number | string },
      ];
      expect(Number(count)).toBe(many + 1);
    },
  );

  test('an event that is delivered twice counts once', async () => {
    const use = at.use(trapNo, { channel: 'aws_cloudtrail', sourceEventId: 'e-1' });
    const both = await Promise.all([at.uses.record(use), at.uses.record(use)]);
    expect(both.map((recorded) => recorded?.isNew ?? null)).toEqual([true, null]);
    expect(await at.uses.record(use)).toBeNull();
    expect((await at.found()).map(({ occurrences }) => occurrences)).toEqual([1]);
  });

  test('each detection is an entry of the stream traps, and so is how it goes on and ends', async () => {
    await at.uses.record(at.use(trapNo, { depth: 'validated' }));
    await at.uses.record(at.use(trapNo, { depth: 'used', action: 'DELETE /x' }));
    await at.uses.record(at.use(trapNo, { depth: 'used' }));
    await at.detections.settle();
    const [detection] = await at.found();
    expect(detection).toMatchObject({ depth: 'used', severity: 'critical', action: 'DELETE /x', occurrences: 3 });
    at.now += 11 * MINUTE;
    await at.detections.settle();
    await at.detections.settle();
    const entries = await at.entries();
    expect(entries.map(({ action }) => action)).toEqual([
      'trap.made',
      'trap.used',
      'trap.used_deeper',
      'trap.use_ended',
    ]);
    expect(entries[1]).toMatchObject({
      actor: 'address:203.0.113.9',
      resource_type: 'trap',
      resource_id: credentialId,
      hash: detection?.entry.hash,
      sequence: detection?.entry.sequence,
      metadata: { detection_id: detection?.detection_id, request_sha256: detection?.request_sha256 },
    });
    expect(entries[3]?.metadata).toMatchObject({ occurrences: 3, first_seen: detection?.first_seen });
  });

  test('a fault leaves neither a detection nor an entry, and the next use is recorded', async () => {
    at.fault = 'after';
    await expect(at.uses.record(at.use(trapNo))).rejects.toThrow('a fault');
    expect(await at.found()).toEqual([]);
    expect(await at.entries()).toHaveLength(1);
    at.fault = null;
    await at.uses.record(at.use(trapNo));
    expect(await at.found()).toHaveLength(1);
    expect(await at.entries()).toHaveLength(2);
  });

  test.each([
    ['revoked', (place: TrapPlace, id: string) => place.traps.revoke(SOMEBODY, id)],
    ['rotated', (place: TrapPlace, id: string) => place.traps.rotate(SOMEBODY, id, undefined)],
  ])('a use of a trap that was %s is a detection', async (status, end) => {
    await end(at, credentialId);
    await at.uses.record(at.use(trapNo));
    expect(await at.traps.find(credentialId)).toMatchObject({ status, detection_count: 1 });
    expect(await at.found({ credential_id: credentialId })).toHaveLength(1);
  });

  test('no trap is made that would have expired, and the successor of one that has does not', async () => {
    const soon = new Date(at.now + MINUTE).toISOString();
    const { credentialId: id } = await at.trap({ expires_at: soon });
    at.now += 2 * MINUTE;
    await expect(at.trap({ expires_at: soon })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await at.traps.rotate(SOMEBODY, id, undefined)).toMatchObject({ expires_at: null, status: 'active' });
  });

  test('a use that IAM tells of first and CloudTrail then is one, by whom CloudTrail says', async () => {
    const byIam = (more: Partial<TrapUse> = {}) => ({
      channel: 'aws_last_used',
      depth: 'used',
      service: 's3',
      sourceIp: null,
      userAgent: null,
      action: null,
      sourceEventId: `${credentialId}/${new Date(at.now).toISOString()}`,
      authVerified: true,
      ...more,
    });
    const byTrail = (id: string, more: Partial<TrapUse> = {}) => ({
      channel: 'aws_cloudtrail',
      depth: 'used',
      service: 's3',
      action: 's3:ListBuckets',
      sourceEventId: id,
      eventTime: new Date(at.now - 5 * MINUTE).toISOString(),
      authVerified: true,
      ...more,
    });
    const record = (use: object) => at.uses.record(at.use(trapNo, use as Partial<TrapUse>));
    await record(byIam());
    await record(byTrail('of another service', { service: 'sts', action: 'sts:GetCallerIdentity', sourceIp: '::1' }));
    await record(byTrail('the same'));
    const traced = {
      source_ip: '203.0.113.9',
      user_agent: 'curl/8',
      action: 's3:ListBuckets',
      source_event_id: 'the same',
    };
    expect(await at.found()).toMatchObject([
      { source_event_id: 'of another service', occurrences: 1 },
      { channel: 'aws_cloudtrail', occurrences: 1, ...traced },
    ]);
    await Promise.all([record(byTrail('one more')), record(byTrail('and one'))]);
    const detection_id = (await at.found())[1]?.detection_id ?? '';
    const { occurrences, occurrences_kept } = await at.detections.find(detection_id);
    expect([occurrences, ...occurrences_kept.map(({ source_event_id }) => source_event_id)]).toEqual([
      ...[3, 'the same', 'one more', 'and one'],
    ]);
    const entries = (await at.entries()).filter(({ metadata }) => metadata['detection_id'] === detection_id);
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['trap.used', 'unknown'],
      ['trap.use_traced', 'address:203.0.113.9'],
    ]);
  });

  test('two processes record beside each other, and nothing is counted twice or lost', async () => {
    const other = new TrapPlace(made.open(), at.masterKey);
    await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? at : other).uses.record(at.use(trapNo))));
    expect((await at.found()).map(({ occurrences }) => occurrences)).toEqual([40]);
  });

  test('what strangers send can be stored', async () => {
    const hostile = { userAgent: `\0\ud800${'x'.repeat(100_000)}`, action: 'a\0b', sourceIp: null };
    await at.uses.record(at.use(trapNo, hostile));
    const [found] = await at.found();
    expect(found).toMatchObject({ action: 'a\u{fffd}b', source_ip: null });
    expect(found?.user_agent).toMatch(/^\u{fffd}\u{fffd}x{510}$/u);
  });

  test('the database does not tell what is planted', async () => {
    const { token } = await at.trap();
    const rows = await made.query('SELECT * FROM traps');
    const marks = await made.query('SELECT * FROM trap_marks');
    const text = Buffer.from(JSON.stringify([rows, marks], binaryToText)).toString('latin1');
    expect(text).not.toContain(token);
    expect(await at.vault.find(made.database, [{ kind: 'path', value: token }])).not.toBeNull();
  });

  test('a detection is acknowledged, and opened again, once each', async () => {
    await at.uses.record(at.use(trapNo));
    const id = (await at.found())[0]?.detection_id ?? '';
    const before = await at.detections.currentVersion();
    expect(await at.detections.setStatus(SOMEBODY, id, 'acknowledged')).toMatchObject({
      status: 'acknowledged',
      acknowledged_by: 'command:test',
      acknowledged_at: '2026-11-22T00:00:00.000Z',
    });
    await at.detections.setStatus(SOMEBODY, id, 'acknowledged');
    expect(await at.detections.setStatus(SOMEBODY, id, 'open')).toMatchObject({ acknowledged_by: null });
    expect(await at.detections.currentVersion()).toBeGreaterThan(before);
    const actions = (await at.entries()).map(({ action }) => action).slice(2);
    expect(actions).toEqual(['detection.acknowledged', 'detection.reopened']);
  });
});

function later(place: TrapPlace, by: number): Partial<TrapUse> {
  return { eventTime: new Date(place.now + by).toISOString() };
}

function binaryToText(_name: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  const { type, data } = (value ?? {}) as { type?: string; data?: number[] };
  return type === 'Buffer' && data !== undefined ? Buffer.from(data).toString('latin1') : value;
}

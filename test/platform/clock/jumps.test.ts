import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMINISTRATION_STREAM } from '../../../src/platform/accounts/api.ts';
import { Scheduler } from '../../../src/platform/jobs/scheduler.ts';
import type { JobTables } from '../../../src/platform/jobs/tables.ts';
import { withParts } from '../../../src/platform/parts.ts';
import { PeoplePlace } from '../accounts/people-place.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { call, entry, listAll, SERVICES, type Service } from '../service.ts';

const DAY = 86_400_000;
const YEARS = 4 * 365 * DAY;
const ADA = 'ada@example.com';

describe.each(SERVICES)('a platform on %s whose clock jumps ahead', (_name, start) => {
  let service: Service;
  let wrong = 0;
  const clockSources = { wall: () => Date.now() + wrong, steady: () => performance.now() };
  beforeAll(async () => {
    service = await start({ clockSources });
  });
  afterAll(() => service.close());

  const append = () => service.call('POST', '/entries/', entry('s', 1));
  const ready = () => call(service.origin, '', 'GET', '/ready', undefined, { authorization: '' });
  const ahead = async () => /^clock_ahead_seconds (\S+)$/m.exec((await service.call('GET', '//metrics')).text)?.[1];

  test('refuses entries, says so, and still makes and revokes keys at the true time', async () => {
    expect((await append()).status).toBe(201);
    wrong = YEARS;
    const { status, body, headers } = await append();
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'clock_ahead', '60']);
    expect(body.detail).toContain('evidence-platform clock accept');
    await expect.poll(async () => (await ready()).status, { timeout: 10_000 }).toBe(503);
    expect((await ready()).body).toMatchObject({ checks: { clock: false, database: true } });
    expect((await ready()).body.reasons.clock).toMatch(/the clock of this machine reads .*, but it should be about /);
    expect(Number(await ahead())).toBeCloseTo(YEARS / 1000, -2);
    const { body: made } = await service.call('POST', '//keys/', { name: 'k', scopes: ['audit:read'] });
    expect((await service.call('POST', `//keys/${made.key_id}/revoke`)).status).toBe(200);
    const [last] = (await listAll(service, `/entries/?stream_id=${ADMINISTRATION_STREAM}`)).reverse();
    expect(last.action).toBe('key.revoked');
    expect(Math.abs(Date.parse(last.timestamp) - Date.now())).toBeLessThan(60_000);
  });

  test('goes on once the clock is right', async () => {
    wrong = 0;
    expect((await append()).status).toBe(201);
    expect(await ahead()).toBe('0');
    await expect.poll(async () => (await ready()).status, { timeout: 10_000 }).toBe(200);
  });

  test('goes on with the new time once a command accepts it, and states when that was wrong', async () => {
    wrong = YEARS;
    expect((await append()).status).toBe(503);
    const { dataDir, postgresUrl } = service;
    const command = { dataDir, postgresUrl, clockSources };
    await withParts(command, ({ database, time }) => database.write((transaction) => time.accept(transaction)));
    await expect.poll(async () => (await append()).status, { timeout: 10_000 }).toBe(201);
    wrong = 0;
    expect((await append()).status).toBe(201);
    const { body: made } = await service.call('POST', '//keys/', { name: 'k', scopes: ['audit:read'] });
    expect((await service.call('POST', `//keys/${made.key_id}/revoke`)).status).toBe(200);
    const { body } = await service.call('POST', '/streams/s/verify');
    expect(body).toMatchObject({ verified: true, clock_corrections: 1, failures: [] });
  });
});

describe.each(DATABASES)('after a clock that was ahead on %s', (_name, start) => {
  let place: DatabasePlace;
  let at: PeoplePlace;
  beforeAll(async () => {
    place = await start();
    at = new PeoplePlace((await place.createMigrated()).database);
    await at.join(ADA);
  });
  afterAll(() => place.close());

  /** Runs `work` while the clock is ahead. */
  async function whileAhead<T>(work: () => Promise<T>): Promise<T> {
    at.now += YEARS;
    const result = await work();
    at.now -= YEARS;
    return result;
  }

  test('a person signs in; sessions of the wrong time have ended', async () => {
    const token = await whileAhead(() => at.signIn(ADA));
    expect(await at.accounts.sessions.find(token)).toBeNull();
    expect(await at.accounts.sessions.find(await at.signIn(ADA))).toMatchObject({ email: ADA });
    expect((await at.acts()).map(({ action }) => action)).toContain('clock.corrected');
  });

  test('nobody waits for years after wrong passwords', async () => {
    const guess = () => at.signIn(ADA, { password: 'wrong', network: 'n' }).catch(({ code }) => code);
    const codes = await whileAhead(async () => {
      const answers = [];
      for (let number = 0; number < 7; number++) answers.push(await guess());
      return answers;
    });
    expect(codes).toContain('too_many_attempts');
    expect(await at.signIn(ADA, { network: 'n' })).not.toBe('');
  });

  test('jobs run, and messages are sent', async () => {
    let runs = 0;
    const run = async () => {
      runs++;
    };
    const scheduler = new Scheduler(at.database, [{ name: 'j', everyMs: 60_000, atMostMs: 60_000, run }], at.clock);
    const runDue = () => scheduler.runDue(() => {});
    await whileAhead(async () => {
      await runDue();
      await at.database.write((transaction) => at.outbox.add(transaction, 'unknown', {}));
    });
    for (const minutes of [0, 0.5, 0.6]) {
      at.now += minutes * 60_000;
      await runDue();
    }
    expect(runs).toBe(3);
    await at.post();
    const outbox = at.database.tables<JobTables>().selectFrom('outbox').select('attempts');
    expect(await outbox.where('kind', '=', 'unknown').execute()).toEqual([{ attempts: 1 }]);
  });
});

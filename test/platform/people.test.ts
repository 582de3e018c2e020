import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeLink } from '../../src/platform/accounts/links.ts';
import { hashPassword } from '../../src/platform/accounts/password.ts';
import { People } from '../../src/platform/accounts/people.ts';
import type { LinkPurpose, PeopleTables } from '../../src/platform/accounts/people-tables.ts';
import { SecretBox } from '../../src/platform/accounts/secrets.ts';
import { newTotpSecret, totpCode } from '../../src/platform/accounts/totp.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { migrateAll } from '../../src/platform/migrations.ts';
import { DATABASES, type DatabasePlace } from './database/databases.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const PASSWORD = 'a long walk by the sea';
const ADA = { email: 'Ada@Example.com', name: 'Ada', role: 'owner', password: PASSWORD } as const;
const BEN = { email: 'ben@example.com', name: 'Ben', role: 'auditor', password: PASSWORD } as const;

describe.each(DATABASES)('people on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let people: People;
  let now: number;
  beforeEach(async () => {
    ({ database } = await place.create());
    await migrateAll(database);
    now = Date.parse('2026-11-22T00:00:00Z');
    people = new People({
      database,
      secrets: new SecretBox(randomBytes(32)),
      clock: () => new Date(now),
      hash: (password) => hashPassword(password, { log2N: 10, r: 8, p: 1 }),
    });
  });

  const link = (purpose: LinkPurpose = 'invite') =>
    database.write((transaction) => makeLink(transaction, purpose, {}, new Date(now)));
  const join = async (person: Parameters<People['join']>[2] = ADA) => people.join('invite', await link(), person);
  const signIn = (more: Partial<Parameters<People['signIn']>[0]> = {}) =>
    people.signIn({ email: ADA.email, password: PASSWORD, address: '192.0.2.1', ...more });
  const codeAt = (secret: Buffer) => totpCode(secret, Math.floor(now / 30_000));

  test('a link makes one account, within a day, for what it was made for', async () => {
    expect(await people.isNobody()).toBe(true);
    const token = await link('set_up');
    await expect(people.join('invite', token, ADA)).rejects.toMatchObject({ code: 'link_used' });
    await people.join('set_up', token, ADA);
    expect(await people.isNobody()).toBe(false);
    await expect(people.join('set_up', token, BEN)).rejects.toMatchObject({ code: 'link_used' });
    const old = await link('set_up');
    now += 24 * HOUR;
    await expect(people.join('set_up', old, BEN)).rejects.toMatchObject({ code: 'link_used' });
  });

  test('of two who follow one link at once one has it', async () => {
    const token = await link();
    const both = await Promise.allSettled([ADA, BEN].map((person) => people.join('invite', token, person)));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('an address has one account, however it is written, and the link stays good', async () => {
    await join();
    const token = await link();
    await expect(people.join('invite', token, { ...BEN, email: ' ADA@example.COM' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await people.join('invite', token, BEN);
  });

  test.each([
    ['short', 'short'],
    ['one letter', 'a'.repeat(40)],
    ['the name', 'ada ada ada 123!'],
    ['the address', 'xxada@example.comxx'],
    ['too long', 'abcdef'.repeat(50)],
  ])('a password that is %s is refused, and the link stays good', async (_why, password) => {
    const token = await link();
    await expect(people.join('invite', token, { ...ADA, password })).rejects.toMatchObject({ code: 'weak_password' });
    await people.join('invite', token, ADA);
  });

  test('who signs in has a session with their role; only its digest is stored', async () => {
    const personId = await join();
    const token = await signIn({ email: ' ADA@example.com ' });
    expect(await people.sessions.find(token)).toMatchObject({
      ...{ personId, email: 'ada@example.com', name: 'Ada', role: 'owner', isProved: false },
    });
    const stored = await database.tables<PeopleTables>().selectFrom('sessions').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(token);
    const csrf = new Set([
      (await people.sessions.find(token))?.csrf,
      (await people.sessions.find(await signIn()))?.csrf,
    ]);
    expect(csrf.size).toBe(2);
  });

  test('whatever is not right is refused in the same words', async () => {
    const personId = await join();
    await join(BEN);
    const refused = async (more: Parameters<typeof signIn>[0]) =>
      signIn({ address: randomBytes(4).toString('hex'), ...more }).catch((error: Error) => error.message);
    const words = await refused({ password: 'something else' });
    expect(words).toBe('the e-mail address, the password or the code is not right');
    expect(await refused({ email: 'nobody@example.com' })).toBe(words);
    await people.addSecondFactor(personId, Buffer.alloc(20), codeAt(Buffer.alloc(20)));
    expect(await refused({})).toBe(words);
    expect(await refused({ code: '000000' })).toBe(words);
  });

  test('a second factor is asked for, each code once', async () => {
    const personId = await join();
    const secret = newTotpSecret();
    await expect(people.addSecondFactor(personId, secret, '000000')).rejects.toMatchObject({ code: 'not_signed_in' });
    await people.addSecondFactor(personId, secret, codeAt(secret));
    // The code that it was added with is used up.
    await expect(signIn({ code: codeAt(secret), address: 'a' })).rejects.toMatchObject({ code: 'not_signed_in' });
    now += MINUTE;
    const code = codeAt(secret);
    const both = await Promise.allSettled(['b', 'c'].map((address) => signIn({ code, address })));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { value } = both.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<string>;
    expect(await people.sessions.find(value)).toMatchObject({ isProved: true });
    const stored = await database.tables<PeopleTables>().selectFrom('people').selectAll().executeTakeFirstOrThrow();
    expect(Buffer.from(stored.totp_secret ?? []).includes(secret)).toBe(false);
  });

  test('a session ends after an hour without a request, and after twelve in any case', async () => {
    await join();
    const idle = await signIn();
    now += 59 * MINUTE;
    expect(await people.sessions.find(idle)).not.toBeNull();
    now += 59 * MINUTE;
    expect(await people.sessions.find(idle)).not.toBeNull();
    now += HOUR;
    expect(await people.sessions.find(idle)).toBeNull();
    const busy = await signIn();
    for (let minutes = 0; minutes < 12 * 60 - 30; minutes += 30) {
      now += 30 * MINUTE;
      expect(await people.sessions.find(busy), String(minutes)).not.toBeNull();
    }
    now += 30 * MINUTE;
    expect(await people.sessions.find(busy)).toBeNull();
  });

  test('a session that was ended is none, and no other token is one', async () => {
    await join();
    const [token, other] = [await signIn(), await signIn()];
    await people.sessions.end(token);
    expect(await people.sessions.find(token)).toBeNull();
    expect(await people.sessions.find(other)).not.toBeNull();
    expect(await people.sessions.find(`${other}x`)).toBeNull();
    expect(await people.sessions.find('')).toBeNull();
  });

  test('who they are counts as proved for five minutes', async () => {
    await join();
    const token = await signIn();
    await expect(people.proveAgain(token, { password: 'wrong' })).rejects.toMatchObject({ code: 'not_signed_in' });
    expect((await people.sessions.find(token))?.isProved).toBe(false);
    await people.proveAgain(token, { password: PASSWORD });
    expect((await people.sessions.find(token))?.isProved).toBe(true);
    now += 5 * MINUTE;
    expect((await people.sessions.find(token))?.isProved).toBe(false);
  });

  test('guessing becomes slow, for an account that is there and for one that is not', async () => {
    await join();
    for (const email of [ADA.email, 'nobody@example.com']) {
      const answers: string[] = [];
      for (let guess = 0; guess < 7; guess++)
        answers.push(
          await signIn({ email, password: 'wrong', address: `${email} ${guess}` }).catch(
            (error: { code: string }) => error.code,
          ),
        );
      expect(answers).toEqual([...Array(5).fill('not_signed_in'), 'too_many_attempts', 'too_many_attempts']);
      // Also who knows the password waits, else it could be guessed by the answer.
      await expect(signIn({ email, address: 'another' })).rejects.toMatchObject({
        code: 'too_many_attempts',
        members: { retry_after: 1 },
      });
    }
    now += SECOND;
    expect(await people.sessions.find(await signIn({ address: 'another' }))).not.toBeNull();
  });

  test('guessing from one address becomes slow over all accounts', async () => {
    await join();
    for (let guess = 0; guess < 5; guess++)
      await expect(signIn({ email: `${guess}@example.com`, password: 'x' })).rejects.toMatchObject({
        code: 'not_signed_in',
      });
    await expect(signIn()).rejects.toMatchObject({ code: 'too_many_attempts' });
    expect(await signIn({ address: '198.51.100.7' })).not.toBe('');
  });

  test('who is let in no more is out at once, and the last owner stays', async () => {
    const ada = await join();
    const ben = await join(BEN);
    const token = await signIn({ email: BEN.email });
    await people.disable(ben);
    expect(await people.sessions.find(token)).toBeNull();
    await expect(signIn({ email: BEN.email })).rejects.toMatchObject({ code: 'not_signed_in' });
    await expect(people.disable(ben)).rejects.toMatchObject({ code: 'not_found' });
    await expect(people.disable(ada)).rejects.toMatchObject({ code: 'conflict' });
    await join({ ...ADA, email: 'cyd@example.com' });
    await people.disable(ada);
  });
});

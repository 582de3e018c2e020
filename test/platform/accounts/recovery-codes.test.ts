import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import { newTotpSecret } from '../../../src/platform/accounts/totp.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { outcomes, PASSWORD, PeoplePlace, PUBLIC_URL } from './people-place.ts';
import { SoftAuthenticator } from './soft-authenticator.ts';

const ADA = 'ada@example.com';
const BEN = 'ben@example.com';
const WRONG = { code: 'not_signed_in' };
const OWNER = byCommand('test');

describe.each(DATABASES)('recovery codes on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let at: PeoplePlace;
  let ada: string;
  let codes: string[];
  beforeEach(async () => {
    ({ database } = await place.createMigrated());
    at = new PeoplePlace(database);
    ada = await at.join(ADA);
    codes = await addAuthenticator(ADA);
  });

  const addAuthenticator = async (email: string) => {
    const secret = newTotpSecret();
    const session = await at.signIn(email);
    return (await at.accounts.credentials.addAuthenticator(session, secret, at.codeOf(secret))) ?? [];
  };
  const stored = () =>
    database
      .tables<AccountTables>()
      .selectFrom('people')
      .selectAll()
      .where('email', '=', ADA)
      .executeTakeFirstOrThrow();

  test('are made with the first second factor, ten different ones that cannot be guessed, and stored as no text', async () => {
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
    const { recovery_codes } = await stored();
    const bytes = Buffer.from(recovery_codes ?? []).toString('latin1');
    expect(codes.filter((code) => bytes.includes(code) || bytes.includes(code.replaceAll('-', '')))).toEqual([]);
    const authenticator = new SoftAuthenticator(PUBLIC_URL);
    const session = await at.signIn(ADA, { recovery_code: codes[0] });
    const options = await at.accounts.passkeys.askToAdd(session);
    expect(await at.accounts.passkeys.add(session, 'telephone', authenticator.make(options))).toBeNull();
    expect(await at.accounts.recoveryCodes.left(ada)).toBe(9);
  });

  test('are made with a passkey, too', async () => {
    await at.join(BEN);
    const session = await at.signIn(BEN);
    const options = await at.accounts.passkeys.askToAdd(session);
    const made = await at.accounts.passkeys.add(session, 'key', new SoftAuthenticator(PUBLIC_URL).make(options));
    expect(await at.signIn(BEN, { recovery_code: made?.[9] })).not.toBe('');
  });

  test('each signs in once, also of two at once, and its use is recorded and mailed', async () => {
    await at.post();
    const [code = '', next = ''] = codes;
    const both = await outcomes(['b', 'c'].map((network) => at.signIn(ADA, { recovery_code: code, network })));
    expect(both).toEqual(['done', 'not_signed_in']);
    await expect(at.signIn(ADA, { recovery_code: code })).rejects.toMatchObject(WRONG);
    const token = await at.signIn(ADA, { recovery_code: ` ${next.toUpperCase().replaceAll('-', ' ')}` });
    expect(await at.accounts.sessions.find(token)).toMatchObject({ isProved: true });
    expect(await at.accounts.recoveryCodes.left(ada)).toBe(8);
    const subjects = (await at.post()).map(({ subject }) => subject);
    expect(subjects).toEqual(Array(2).fill('A recovery code of your account was used'));
    const acts = (await at.acts()).slice(-4);
    expect(acts).toMatchObject([
      { action: 'person.signed_in', metadata: { second_factor: 'recovery_code' } },
      { action: 'recovery_code.used', resource_id: ada, metadata: { left: 9 } },
      { action: 'person.signed_in' },
      { action: 'recovery_code.used', actor: `person:${ada}`, metadata: { left: 8 } },
    ]);
    expect(JSON.stringify(acts)).not.toContain(code);
  });

  test('are of no use without the password, to another person, or when they are other texts', async () => {
    await at.join(BEN);
    const bens = await addAuthenticator(BEN);
    const [code = ''] = codes;
    await expect(at.signIn(ADA, { password: 'wrong', recovery_code: code })).rejects.toMatchObject(WRONG);
    for (const recovery_code of [bens[0], '', '-', 'a'.repeat(16), code.slice(0, -1), `${code}a`])
      await expect(at.signIn(ADA, { recovery_code, network: `n${recovery_code}` })).rejects.toMatchObject(WRONG);
    const other = at.database.tables<AccountTables>().selectFrom('people').select('recovery_codes');
    const { recovery_codes } = await other.where('email', '=', BEN).executeTakeFirstOrThrow();
    await database.write((transaction) =>
      transaction
        .tables<AccountTables>()
        .updateTable('people')
        .set({ recovery_codes })
        .where('email', '=', ADA)
        .execute(),
    );
    await expect(at.signIn(ADA, { recovery_code: bens[0], network: 'x' })).rejects.toThrow();
  });

  test('are guessed no faster than codes of an authenticator', async () => {
    const { signIn } = at.accounts;
    const answers = [];
    for (let time = 0; time < 7; time++) {
      const first = await signIn.firstStep({ email: ADA, password: PASSWORD, network: `n${time}` });
      const ticket = 'ticket' in first ? first.ticket : expect.unreachable();
      const factor = time % 2 === 0 ? { recovery_code: 'aaaa' } : { code: '000000' };
      answers.push(...(await outcomes([signIn.secondStep({ ticket, network: `n${time}`, ...factor })])));
    }
    expect(answers).toEqual([...Array(5).fill('not_signed_in'), ...Array(2).fill('too_many_attempts')]);
  });

  test('are made anew on request, which ends the earlier ones and is mailed', async () => {
    await at.post();
    const renewed = await at.accounts.recoveryCodes.renew(ada);
    expect((await at.post()).map(({ subject }) => subject)).toEqual(['New recovery codes were made for your account']);
    await expect(at.signIn(ADA, { recovery_code: codes[1] })).rejects.toMatchObject(WRONG);
    expect(await at.signIn(ADA, { recovery_code: renewed[1] })).not.toBe('');
    expect((await at.acts()).map(({ action }) => action)).toContain('recovery_codes.made');
    const gone = await at.join(BEN);
    await expect(at.accounts.recoveryCodes.renew(gone)).rejects.toMatchObject({ code: 'conflict' });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['its owner', () => at.accounts.credentials.removeAuthenticator(ada)],
    ['an owner of the platform', () => at.accounts.people.removeSecondFactor(OWNER, ada)],
  ])('end with the last second factor, removed by %s', async (_who, remove) => {
    await remove();
    expect(await at.accounts.recoveryCodes.left(ada)).toBe(0);
    expect(await at.signIn(ADA, { recovery_code: codes[0] })).not.toBe('');
    const anew = await addAuthenticator(ADA);
    await expect(at.signIn(ADA, { recovery_code: codes[0] })).rejects.toMatchObject(WRONG);
    expect(await at.signIn(ADA, { recovery_code: anew[0] })).not.toBe('');
  });
});

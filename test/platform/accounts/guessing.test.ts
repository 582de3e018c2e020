import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { accountsTidyJob } from '../../../src/platform/accounts/accounts.ts';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import type { Passwords } from '../../../src/platform/accounts/password.ts';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import { forgetAttempts } from '../../../src/platform/accounts/throttle.ts';
import { newTotpSecret } from '../../../src/platform/accounts/totp.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { CHEAP, NETWORK, outcomes, PASSWORD, PeoplePlace } from './people-place.ts';
import { SoftAuthenticator } from './soft-authenticator.ts';

const MINUTE = 60_000;
const ADA = 'ada@example.com';
const BEN = 'ben@example.com';
const OTHER_PASSWORD = 'the third door on the left';
/** Time for what happens in the background. */
const SOON = 20_000;
const FIVE_WRONG = Array(5).fill('not_signed_in');

/** Hashing of passwords that can be held up. */
class Hashing implements Passwords {
  #held: Promise<void> = Promise.resolve();
  release = () => {};
  /** Passwords in the order in which they were compared. */
  readonly compared: string[] = [];

  hold(): void {
    this.#held = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  hash = CHEAP.hash;

  async matches(password: string, stored: string | null): Promise<boolean> {
    this.compared.push(password);
    await this.#held;
    return CHEAP.matches(password, stored);
  }
}

describe.each(DATABASES)('guessing at accounts on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let at: PeoplePlace;
  beforeEach(async () => {
    ({ database } = await place.createMigrated());
    at = new PeoplePlace(database);
  });

  /** Guesses at a password, one after the other. @returns the codes, in order. */
  const guess = async (times: number, email: string, network: (time: number) => string, device?: string) => {
    const codes: string[] = [];
    for (let time = 0; time < times; time++) {
      const more = { password: `wrong ${time}`, network: network(time), ...(device && { device }) };
      codes.push(...(await outcomes([at.signIn(email, more)])));
    }
    return codes;
  };
  const rows = async () =>
    (await database.tables<AccountTables>().selectFrom('failed_attempts').selectAll().execute()).length;

  test.each([
    ['an account', ADA],
    ['an address without an account', 'nobody@example.com'],
  ])('becomes slow from one network, for %s, and is forgiven as time passes', async (_what, email) => {
    await at.join(ADA);
    expect(await guess(7, email, () => NETWORK)).toEqual([...FIVE_WRONG, ...Array(2).fill('too_many_attempts')]);
    // The correct password waits too; otherwise the answer would reveal a correct guess.
    await expect(at.signIn(email)).rejects.toMatchObject({
      code: 'too_many_attempts',
      members: { retry_after: 300 },
    });
    at.now += 5 * MINUTE;
    expect(await guess(2, email, () => NETWORK)).toEqual(['not_signed_in', 'too_many_attempts']);
    at.now += 25 * MINUTE;
    expect(await guess(6, email, () => NETWORK)).toEqual([...FIVE_WRONG, 'too_many_attempts']);
  });

  test('by strangers does not keep the owner out of another network', async () => {
    await at.join(ADA);
    for (let minute = 0; minute < 60; minute++) {
      await guess(2, ADA, () => 'a stranger');
      at.now += MINUTE;
    }
    expect(await at.signIn(ADA)).not.toBe('');
  });

  test.each([
    ['from many networks', (time: number) => `n${time}`],
    ['from many parts of many IPv6 sites', (time: number) => `2001:db8:${time}:${time}`],
  ])('%s becomes slow, and never for a known device, a live session or a passkey', async (_how, network) => {
    await at.join(ADA);
    const session = await at.signIn(ADA);
    const { passkeys, signIn, devices } = at.accounts;
    const authenticator = new SoftAuthenticator('https://evidence.example');
    await passkeys.add(session, 'telephone', authenticator.make(await passkeys.askToAdd(session)));
    const ticket = await signIn.firstStep({ email: ADA, password: PASSWORD, network: NETWORK });
    const codes = await guess(110, ADA, network);
    expect(codes.filter((code) => code === 'not_signed_in')).toHaveLength(100);
    await expect(at.signIn(ADA, { network: 'new' })).rejects.toMatchObject({ code: 'too_many_attempts' });
    const device = devices.cookie(ADA);
    const first = await signIn.firstStep({ email: ADA, password: PASSWORD, network: 'n1', device });
    expect(first).toHaveProperty('ticket');
    if (!('ticket' in ticket)) return expect.unreachable();
    const { options } = await signIn.askSecond(ticket.ticket);
    const passkey = authenticator.sign(options ?? expect.unreachable());
    expect(await signIn.secondStep({ ticket: ticket.ticket, network: 'n1', passkey })).not.toBe('');
    await expect(signIn.proveAgain(session, 'n1', { password: PASSWORD })).rejects.toMatchObject({
      code: 'not_signed_in',
    });
    const { options: again } = await signIn.askAgain(session);
    await signIn.proveAgain(session, 'n1', { password: PASSWORD, passkey: authenticator.sign(again as never) });
  });

  test('from all parts of one IPv6 site becomes slow as from one network', async () => {
    await at.join(ADA);
    expect(await guess(7, ADA, (time) => `2001:db8:1:${time}`)).toEqual([
      ...FIVE_WRONG,
      ...Array(2).fill('too_many_attempts'),
    ]);
    expect(await at.signIn(ADA, { network: '2001:db8:2:0' })).not.toBe('');
    const codes = [];
    for (let time = 0; time < 310; time++)
      codes.push(...(await guess(1, `${time}@example.com`, () => `2001:db8:1:${time}`)));
    expect(codes.indexOf('too_many_attempts')).toBe(295);
  });

  test('from a known device or in a session becomes slow there alone', async () => {
    await at.join(ADA);
    const { devices, signIn } = at.accounts;
    const [device, other] = [devices.cookie(ADA), devices.cookie(ADA)];
    const token = await at.signIn(ADA);
    const slow = [...FIVE_WRONG, 'too_many_attempts'];
    expect(await guess(6, ADA, () => NETWORK, device)).toEqual(slow);
    const proofs = [];
    for (let time = 0; time < 6; time++)
      proofs.push(...(await outcomes([signIn.proveAgain(token, NETWORK, { password: 'wrong' })])));
    expect(proofs).toEqual(slow);
    expect(await at.signIn(ADA, { device: other })).not.toBe('');
    expect(await at.signIn(ADA)).not.toBe('');
    at.now += MINUTE;
    expect(await at.signIn(ADA, { device })).not.toBe('');
  });

  test.each<[string, (made: string) => string]>([
    ['of another account', () => at.accounts.devices.cookie(BEN)],
    ['with another byte', (made) => `${made.startsWith('A') ? 'B' : 'A'}${made.slice(1)}`],
    ['cut off', (made) => made.slice(0, 20)],
    ['made of nothing', () => ''],
    ['far too long', (made) => made.repeat(100)],
    ['of another platform', () => new PeoplePlace(database).accounts.devices.cookie(ADA)],
    [
      'older than 180 days',
      (made) => {
        at.now += 181 * 24 * 60 * MINUTE;
        return made;
      },
    ],
  ])('with a device cookie %s is that of a stranger', async (_what, from) => {
    await at.join(ADA);
    const device = from(at.accounts.devices.cookie(ADA));
    await guess(5, ADA, () => NETWORK);
    await expect(at.signIn(ADA, { device })).rejects.toMatchObject({ code: 'too_many_attempts' });
  });

  test('many at once gains no more than one after the other', async () => {
    await at.join(ADA);
    const before = at.hashes;
    const guesses = Array.from({ length: 40 }, (_, time) => at.signIn(ADA, { password: `wrong ${time}` }));
    const answers = await outcomes(guesses);
    expect(answers.filter((answer) => answer === 'not_signed_in')).toHaveLength(5);
    expect(answers.filter((answer) => answer === 'too_many_attempts')).toHaveLength(35);
    expect(at.hashes - before).toBe(5);
  });

  test('becomes slow for a network over all accounts, until it is forgiven, and right sign-ins renew nothing', async () => {
    await at.join(ADA);
    for (let time = 0; time < 40; time++) await at.signIn(ADA);
    for (let time = 0; time < 30; time++)
      await expect(at.signIn(`${time}@example.com`)).rejects.toMatchObject({ code: 'not_signed_in' });
    await expect(at.signIn(ADA)).rejects.toMatchObject({ code: 'too_many_attempts', members: { retry_after: 60 } });
    expect(await at.signIn(ADA, { network: '198.51.100.7' })).not.toBe('');
    for (let colleague = 0; colleague < 40; colleague++) {
      at.now += colleague === 0 ? MINUTE : 0;
      expect(await at.signIn(ADA)).not.toBe('');
    }
    at.now += 9 * MINUTE;
    expect(await outcomes(Array.from({ length: 10 }, (_, time) => at.signIn(`x${time}@example.com`)))).toEqual(
      Array(10).fill('not_signed_in'),
    );
  });

  test('at the second factor becomes slow, apart from guesses at the password', async () => {
    await at.join(ADA);
    const { signIn, credentials, devices } = at.accounts;
    const secret = newTotpSecret();
    await credentials.addAuthenticator(await at.signIn(ADA), secret, at.codeOf(secret));
    const first = await signIn.firstStep({ email: ADA, password: PASSWORD, network: NETWORK });
    if (!('ticket' in first)) return expect.unreachable();
    const { ticket } = first;
    const device = devices.cookie(ADA);
    await guess(110, ADA, (time) => `n${time}`);
    const codes = [];
    for (let time = 0; time < 6; time++)
      codes.push(...(await outcomes([signIn.secondStep({ ticket, network: `m${time}`, code: '000000' })])));
    expect(codes).toEqual([...FIVE_WRONG, 'too_many_attempts']);
    at.now += MINUTE;
    const code = at.codeOf(secret);
    await expect(signIn.secondStep({ ticket, network: 'new', code })).rejects.toMatchObject({
      code: 'too_many_attempts',
    });
    expect(await signIn.secondStep({ ticket, network: 'new', code, device })).not.toBe('');
  });

  test('at a password that was reset by mail pauses nobody who has the link', async () => {
    const ada = await at.join(ADA);
    await guess(5, ADA, () => NETWORK);
    await expect(at.signIn(ADA)).rejects.toMatchObject({ code: 'too_many_attempts' });
    const device = await at.accounts.credentials.reset(await at.link('reset', { person_id: ada }), OTHER_PASSWORD);
    expect(await at.signIn(ADA, { password: OTHER_PASSWORD, device })).not.toBe('');
  });

  test('is recorded, once for each five', async () => {
    const personId = await at.join(ADA);
    for (let time = 0; time < 10; time++) {
      await guess(1, ADA, () => NETWORK);
      at.now += time < 5 ? 0 : 5 * MINUTE;
    }
    const failing = (await at.acts()).filter(({ action }) => action === 'sign_in.failing');
    const one = { actor: 'nobody', resource_type: 'network', resource_id: NETWORK, metadata: { person_id: personId } };
    expect(failing).toMatchObject([one]);
    await guess(1, ADA, () => NETWORK);
    expect((await at.acts()).filter(({ action }) => action === 'sign_in.failing')).toHaveLength(2);
  });

  test('pauses nobody after a clock that was ahead', async () => {
    await at.join(ADA);
    at.now += 1000 * 24 * 60 * MINUTE;
    await guess(5, ADA, () => NETWORK);
    at.now -= 1000 * 24 * 60 * MINUTE;
    expect(await at.signIn(ADA)).not.toBe('');
  });

  test('is forgotten when it is forgiven, and of too many counts the largest are kept', async () => {
    await guess(5, ADA, () => NETWORK);
    for (let time = 0; time < 5; time++) await guess(1, `${time}@example.com`, () => `n${time}`);
    expect(await rows()).toBe(18);
    await database.write((transaction) => forgetAttempts(transaction, new Date(at.now), 4));
    expect(await rows()).toBeLessThanOrEqual(4);
    expect(await guess(1, ADA, () => NETWORK)).toEqual(['too_many_attempts']);
    at.now += 30 * MINUTE;
    await accountsTidyJob(database, at.clock).run();
    expect(await rows()).toBe(0);
  });

  test('from many networks at once is refused when too much waits, and delays neither a device nor a new network', async () => {
    const hashing = new Hashing();
    at = new PeoplePlace(database, undefined, 'closed', hashing);
    await at.join(ADA);
    const device = at.accounts.devices.cookie(ADA);
    await guess(1, BEN, () => 'elsewhere');
    hashing.hold();
    const answers: string[] = [];
    const guesses = Array.from({ length: 80 }, async (_, time) => {
      const [answer = ''] = await guess(1, BEN, () => `n${time}`);
      answers.push(answer);
    });
    await vi.waitFor(() => expect(answers).toEqual(Array(80 - 2 - 64).fill('sign_in_busy')), SOON);
    const failures = await database.tables<AccountTables>().selectFrom('failed_attempts').select('failures').execute();
    expect(failures.filter(({ failures: each }) => each === 0)).toHaveLength(2 * (80 - 2 - 64));
    const others = [at.signIn(ADA, { device }), at.signIn(ADA, { network: 'new' })];
    await vi.waitFor(async () => expect(await rows()).toBe(failures.length + 4), SOON);
    hashing.release();
    await Promise.all([...others, ...guesses]);
    expect(hashing.compared.filter((password) => password === PASSWORD)).toHaveLength(2);
    expect(hashing.compared.lastIndexOf(PASSWORD)).toBeLessThan(10);
    expect(answers.filter((answer) => answer === 'not_signed_in')).toHaveLength(66);
  });

  test('by people who are disabled or unknown says and does the same', async () => {
    const gone = await at.join(BEN);
    await at.join(ADA, 'owner');
    await at.accounts.people.disable(byCommand('test'), gone);
    const device = at.accounts.devices.cookie(BEN);
    expect(await guess(6, BEN, () => NETWORK, device)).toEqual(await guess(6, 'nobody@example.com', () => NETWORK));
  });
});

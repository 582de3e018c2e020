import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import type { Role } from '../../../src/platform/accounts/enums.ts';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import { newTotpSecret } from '../../../src/platform/accounts/totp.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { JobTables } from '../../../src/platform/jobs/tables.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { NETWORK, outcomes, PASSWORD, PeoplePlace } from './people-place.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const ADA = 'ada@example.com';
const BEN = 'ben@example.com';
const SOMEBODY = { name: 'Ada', password: PASSWORD };
const OWNER = byCommand('test');
const OTHER_PASSWORD = 'the third door on the left';

describe.each(DATABASES)('people on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let open: () => Database;
  let at: PeoplePlace;
  beforeEach(async () => {
    ({ database, open } = await place.createMigrated());
    at = new PeoplePlace(database);
  });

  describe('the ways to an account', () => {
    test('the set-up link makes the first owner, who is signed in, and nobody else', async () => {
      const { people, joining, sessions } = at.accounts;
      expect(await people.isNobody()).toBe(true);
      const [first, second] = [await joining.setUpLink(OWNER), await joining.setUpLink(OWNER)];
      const { personId, session } = await joining.setUp(first, { ...SOMEBODY, email: ' ADA@Example.com ' });
      expect(await sessions.find(session)).toMatchObject({ personId, email: ADA, role: 'owner' });
      expect(await people.isNobody()).toBe(false);
      for (const link of [first, second]) {
        await expect(joining.setUp(link, { ...SOMEBODY, email: BEN })).rejects.toMatchObject({ code: 'link_used' });
        await expect(joining.readSetUpLink(link)).rejects.toMatchObject({ code: 'link_used' });
      }
      await expect(joining.setUpLink(OWNER)).rejects.toMatchObject({ code: 'conflict' });
    });

    test('of two who would be the first owner by two links in two processes one is', async () => {
      const other = new PeoplePlace(open(), Buffer.alloc(32, 1));
      at = new PeoplePlace(database, Buffer.alloc(32, 1));
      const links = [await at.accounts.joining.setUpLink(OWNER), await at.accounts.joining.setUpLink(OWNER)];
      const both = [at, other].map(({ accounts }, index) =>
        accounts.joining.setUp(links[index] ?? '', { ...SOMEBODY, email: `${index}@example.com` }),
      );
      expect(await outcomes(both)).toEqual(['done', 'link_used']);
      expect((await at.accounts.people.list({ limit: 9 })).data).toHaveLength(1);
    });

    test('an invitation is mailed, and makes one account of its role and address', async () => {
      const { joining, invitations, sessions } = at.accounts;
      await invitations.invite(OWNER, { email: BEN, role: 'operator' });
      const token = await at.mailedToken();
      expect(at.mails).toMatchObject([{ to: BEN, subject: 'You are invited to the evidence platform' }]);
      expect(await joining.readInvitation('invite', token)).toEqual({ email: BEN, role: 'operator' });
      const both = [joining.accept(token, SOMEBODY), joining.accept(token, SOMEBODY)];
      expect(await outcomes(both)).toEqual(['done', 'link_used']);
      expect(await sessions.find(await at.signIn(BEN))).toMatchObject({ role: 'operator' });
      await expect(joining.readInvitation('invite', token)).rejects.toMatchObject({ code: 'link_used' });
      await expect(invitations.invite(OWNER, { email: BEN, role: 'auditor' })).rejects.toMatchObject({
        code: 'conflict',
      });
    });

    test('nobody invites to a role that may more than they', async () => {
      const { invitations } = at.accounts;
      const actor = { name: 'key:k', scopes: ['people:write', 'audit:read'] as const };
      const refused = { code: 'forbidden' };
      await expect(invitations.invite(actor, { email: BEN, role: 'auditor' })).rejects.toMatchObject(refused);
      expect(await at.post()).toEqual([]);
      const { link_id } = await invitations.invite(OWNER, { email: BEN, role: 'auditor' });
      await at.post();
      const [before] = (await invitations.list({ limit: 9 })).data;
      at.now += HOUR;
      await expect(invitations.sendAgain(actor, link_id)).rejects.toMatchObject(refused);
      expect([await at.post(), (await invitations.list({ limit: 9 })).data]).toEqual([[], [before]]);
    });

    test('an invitation that is asked for again under one key is mailed once', async () => {
      const { invitations } = at.accounts;
      const input = { email: BEN, role: 'auditor' } as const;
      const [first, again] = [await invitations.invite(OWNER, input, 'k'), await invitations.invite(OWNER, input, 'k')];
      expect(again).toEqual(first);
      expect(await at.post()).toHaveLength(1);
      await expect(invitations.invite(OWNER, { ...input, role: 'owner' }, 'k')).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    });

    test('who signs up confirms their address, and may read', async () => {
      await at.join(ADA, 'owner');
      const { joining, sessions } = at.accounts;
      await joining.signUp(' Ben@example.com', NETWORK);
      const token = await at.mailedToken();
      const { session } = (await joining.confirm(token, SOMEBODY)) ?? expect.unreachable();
      expect(await sessions.find(session)).toMatchObject({ email: BEN, role: 'auditor' });
      await expect(joining.confirm(token, SOMEBODY)).rejects.toMatchObject({ code: 'link_used' });
    });

    test('signing up says and does the same for an address that has an account, and mails its owner', async () => {
      await at.join(ADA, 'owner');
      const { joining } = at.accounts;
      const before = await counts();
      const added = [];
      for (const email of [ADA, BEN]) {
        expect(await joining.signUp(email, NETWORK)).toBeUndefined();
        added.push(await counts());
      }
      expect(added[0]).toEqual(before.map((count, table) => count + (table === 2 ? 2 : 1)));
      expect(added[1]).toEqual(before.map((count, table) => count + (table === 2 ? 3 : 2)));
      expect((await at.post()).map(({ to, subject }) => [to, subject]).sort()).toEqual([
        [ADA, 'You already have an account'],
        [BEN, 'Confirm your e-mail address'],
      ]);
      expect(at.mails.find(({ to }) => to === ADA)?.text).not.toContain('/app/confirm');
    });

    /** Counts one-time links, messages, and counted attempts. */
    async function counts(): Promise<number[]> {
      const tables = ['links', 'outbox', 'failed_attempts'] as const;
      const all = tables.map((table) =>
        database.tables<AccountTables & JobTables>().selectFrom(table).selectAll().execute(),
      );
      return (await Promise.all(all)).map(({ length }) => length);
    }

    test('nobody signs up where it is closed, or before there is an owner', async () => {
      await expect(at.accounts.joining.signUp(BEN, NETWORK)).rejects.toMatchObject({ code: 'forbidden' });
      await at.join(ADA, 'owner');
      expect(await at.accounts.joining.isOpen()).toBe(true);
      const { joining } = new PeoplePlace(database, undefined, 'closed').accounts;
      await expect(joining.signUp(BEN, NETWORK)).rejects.toMatchObject({ code: 'forbidden' });
    });

    test('a link is good within a day, for what it was made for', async () => {
      const { joining, credentials } = at.accounts;
      const content = { email: BEN, role: 'auditor' };
      const token = await at.link('invite', content);
      await expect(joining.setUp(token, { ...SOMEBODY, email: BEN })).rejects.toMatchObject({ code: 'link_used' });
      await expect(joining.confirm(token, SOMEBODY)).rejects.toMatchObject({ code: 'link_used' });
      await expect(credentials.reset(token, OTHER_PASSWORD)).rejects.toMatchObject({ code: 'link_used' });
      at.now += 24 * HOUR;
      await expect(joining.accept(token, SOMEBODY)).rejects.toMatchObject({ code: 'link_used' });
      at.now -= 1;
      await joining.accept(token, SOMEBODY);
    });

    test('nobody has a link by reading the database', async () => {
      await at.accounts.invitations.invite(OWNER, { email: BEN, role: 'auditor' });
      const stored = [
        await database.tables<AccountTables>().selectFrom('links').selectAll().execute(),
        await database.tables<JobTables>().selectFrom('outbox').selectAll().execute(),
      ];
      const token = await at.mailedToken();
      expect(JSON.stringify(stored)).not.toContain(token);
      const [{ link_id = '' } = {}] = stored[0] as { link_id: string }[];
      expect(new PeoplePlace(database).accounts.links.token(link_id)).not.toBe(token);
      expect(at.accounts.links.token(link_id)).toBe(token);
    });

    test('an address has one account, however it is written, and the link stays good', async () => {
      await at.join(ADA);
      const token = await at.link('invite', { email: ADA, role: 'auditor' });
      await expect(at.accounts.joining.accept(token, SOMEBODY)).rejects.toMatchObject({ code: 'conflict' });
      expect(await at.accounts.joining.readInvitation('invite', token)).toMatchObject({ email: ADA });
    });

    test.each([
      ['short', 'short'],
      ['one letter', 'a'.repeat(40)],
      ['the name', 'ada ada ada 123!'],
      ['the address', 'xxada@example.comxx'],
      ['the part of the address before its @', 'walks of ADA by night'],
      ['too long', `${'abcdef ghijkl'.repeat(20)}`],
      ['a word twice', 'passwordpassword'],
      ['a short text again and again', 'tulip7tulip7tul'],
      ['a row of a keyboard', 'qwertyuiop[]'],
      ['figures in a row', '1234567890123'],
      ['figures in a row, downwards', '987654321098'],
      ['what everybody tries, with figures', 'Password12345!'],
      ['what everybody tries, in other signs', 'C0rrect-H0rse-Battery-$taple'],
    ])('a password that is %s is refused, and the link stays good', async (_why, password) => {
      const token = await at.link('invite', { email: ADA, role: 'auditor' });
      const { joining } = at.accounts;
      await expect(joining.accept(token, { name: 'Ada', password })).rejects.toMatchObject({
        code: 'weak_password',
      });
      await joining.accept(token, SOMEBODY);
    });
  });

  describe('signing in', () => {
    test('gives a session with their role; only its digest is stored', async () => {
      const personId = await at.join(ADA, 'owner', 'Ada');
      const token = await at.signIn(' ADA@example.com ');
      const { sessions } = at.accounts;
      expect(await sessions.find(token)).toMatchObject({
        personId,
        email: ADA,
        name: 'Ada',
        role: 'owner',
        isProved: false,
      });
      const stored = await database.tables<AccountTables>().selectFrom('sessions').selectAll().execute();
      expect(JSON.stringify(stored)).not.toContain(token);
      const csrf = [token, await at.signIn(ADA)].map(async (each) => (await sessions.find(each))?.csrf);
      expect(new Set(await Promise.all(csrf)).size).toBe(2);
    });

    test('is refused in the same words and with the same work, whatever is not right', async () => {
      const secret = Buffer.alloc(20);
      await at.join(ADA);
      await at.accounts.credentials.addAuthenticator(await at.signIn(ADA), secret, at.codeOf(secret));
      const gone = await at.join(BEN);
      await at.join('owner@example.com', 'owner');
      await at.accounts.people.disable(OWNER, gone);
      const rows: [string, object][] = [
        ['nobody@example.com', {}],
        [ADA, { password: 'something else' }],
        [ADA, {}],
        [ADA, { code: '000000' }],
        [BEN, {}],
        [BEN, { password: 'something else' }],
        ['', {}],
      ];
      const answers = [];
      for (const [email, more] of rows) {
        const before = at.hashes;
        const refused = at.signIn(email, { network: `n${answers.length}`, ...more });
        const { code, message } = await refused.then(expect.unreachable, (error) => error);
        answers.push({ code, message, hashes: at.hashes - before });
      }
      const [one] = answers;
      expect(one).toEqual({
        code: 'not_signed_in',
        message: 'the e-mail address, the password or the second factor is wrong',
        hashes: 1,
      });
      expect(answers).toEqual(rows.map(() => one));
    });

    test('asks for a second factor, each code once, also of two at once', async () => {
      await at.join(ADA);
      const { credentials, sessions } = at.accounts;
      const secret = newTotpSecret();
      const first = await at.signIn(ADA);
      await expect(credentials.addAuthenticator(first, secret, '000000')).rejects.toMatchObject({
        code: 'not_signed_in',
      });
      await credentials.addAuthenticator(first, secret, at.codeOf(secret));
      await expect(credentials.addAuthenticator(first, secret, at.codeOf(secret))).rejects.toMatchObject({
        code: 'conflict',
      });
      // The code that confirmed the factor is already used.
      await expect(at.signIn(ADA, { code: at.codeOf(secret) })).rejects.toMatchObject({ code: 'not_signed_in' });
      at.now += MINUTE;
      const code = at.codeOf(secret);
      const both = await Promise.allSettled(['b', 'c'].map((network) => at.signIn(ADA, { code, network })));
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const { value } = both.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<string>;
      expect(await sessions.find(value)).toMatchObject({ isProved: true });
      const stored = await database.tables<AccountTables>().selectFrom('people').selectAll().executeTakeFirstOrThrow();
      expect(Buffer.from(stored.totp_secret ?? []).includes(secret)).toBe(false);
    });
  });

  describe('a session', () => {
    test('ends after an hour without a request, and after twelve in any case', async () => {
      await at.join(ADA);
      const { sessions } = at.accounts;
      const idle = await at.signIn(ADA);
      for (const minutes of [59, 59]) {
        at.now += minutes * MINUTE;
        expect(await sessions.find(idle)).not.toBeNull();
      }
      at.now += HOUR;
      expect(await sessions.find(idle)).toBeNull();
      const busy = await at.signIn(ADA);
      for (let minutes = 0; minutes < 12 * 60 - 30; minutes += 30) {
        at.now += 30 * MINUTE;
        expect(await sessions.find(busy), String(minutes)).not.toBeNull();
      }
      at.now += 30 * MINUTE;
      expect(await sessions.find(busy)).toBeNull();
    });

    test('that was ended is none, and no other token is one', async () => {
      await at.join(ADA);
      const { sessions } = at.accounts;
      const [token, other] = [await at.signIn(ADA), await at.signIn(ADA)];
      await sessions.end(token);
      expect(await sessions.find(token)).toBeNull();
      expect(await sessions.find(other)).not.toBeNull();
      for (const wrong of [`${other}x`, '', other.toUpperCase()]) expect(await sessions.find(wrong)).toBeNull();
    });

    test('counts as proved for five minutes, and guessing at that becomes slow, too', async () => {
      await at.join(ADA);
      const { signIn, sessions } = at.accounts;
      const token = await at.signIn(ADA);
      const prove = (password: string) => signIn.proveAgain(token, NETWORK, { password });
      await expect(prove('wrong')).rejects.toMatchObject({ code: 'not_signed_in' });
      expect((await sessions.find(token))?.isProved).toBe(false);
      await prove(PASSWORD);
      expect((await sessions.find(token))?.isProved).toBe(true);
      at.now += 5 * MINUTE;
      expect((await sessions.find(token))?.isProved).toBe(false);
      const guesses = [];
      for (let guess = 0; guess < 6; guess++) guesses.push(...(await outcomes([prove('wrong')])));
      expect(guesses.at(-1)).toBe('too_many_attempts');
    });
  });

  describe('a password', () => {
    test('is changed by who has the one before, which ends the other sessions and is mailed', async () => {
      await at.join(ADA);
      const { credentials, sessions } = at.accounts;
      const [token, other] = [await at.signIn(ADA), await at.signIn(ADA)];
      const change = (password: string, next: string) => credentials.changePassword(token, NETWORK, { password, next });
      await expect(change('wrong', OTHER_PASSWORD)).rejects.toMatchObject({ code: 'not_signed_in' });
      await expect(change(PASSWORD, 'short')).rejects.toMatchObject({ code: 'weak_password' });
      await change(PASSWORD, OTHER_PASSWORD);
      expect([await sessions.find(token), await sessions.find(other)]).toEqual([expect.anything(), null]);
      await expect(at.signIn(ADA)).rejects.toMatchObject({ code: 'not_signed_in' });
      await at.signIn(ADA, { password: OTHER_PASSWORD });
      expect(await at.post()).toMatchObject([{ to: ADA, subject: 'Your password was changed' }]);
    });

    test('that was forgotten is set anew by a mailed link, which ends all sessions and every other such link', async () => {
      await at.join(ADA);
      const { credentials, sessions } = at.accounts;
      const session = await at.signIn(ADA);
      const tokens = [];
      for (const _ of 'ab') {
        await credentials.forgot(ADA, NETWORK);
        tokens.push(await at.mailedToken());
      }
      const [first = '', second = ''] = tokens;
      await expect(credentials.reset(first, 'short')).rejects.toMatchObject({ code: 'weak_password' });
      const both = [credentials.reset(first, OTHER_PASSWORD), credentials.reset(first, OTHER_PASSWORD)];
      expect(await outcomes(both)).toEqual(['done', 'link_used']);
      await expect(credentials.reset(second, OTHER_PASSWORD)).rejects.toMatchObject({ code: 'link_used' });
      expect(await sessions.find(session)).toBeNull();
      await at.signIn(ADA, { password: OTHER_PASSWORD });
    });

    test('that was forgotten is asked for in the same way by who has no account, or may not come in', async () => {
      const gone = await at.join(BEN);
      await at.join(ADA, 'owner');
      await at.accounts.people.disable(OWNER, gone);
      const { credentials } = at.accounts;
      for (const email of ['nobody@example.com', BEN]) {
        expect(await credentials.forgot(email, NETWORK)).toBeUndefined();
        expect(await at.post()).toEqual([]);
      }
      const messages = await database.tables<JobTables>().selectFrom('outbox').select('status').execute();
      expect(messages).toEqual([{ status: 'delivered' }, { status: 'delivered' }]);
    });

    test('cannot be asked for so often that somebody is flooded with mails', async () => {
      await at.join(ADA);
      const answers = [];
      for (let time = 0; time < 5; time++)
        answers.push(...(await outcomes([at.accounts.credentials.forgot(ADA, `n${time}`)])));
      expect(answers).toEqual(['done', 'done', 'done', 'too_many_attempts', 'too_many_attempts']);
    });
  });

  describe('who may come in', () => {
    test('is listed page by page, without anything secret', async () => {
      for (const [at_, email] of ['c@example.com', ADA, BEN].entries()) await at.join(email, 'auditor', `N${at_}`);
      const first = await at.accounts.people.list({ limit: 2 });
      const rest = await at.accounts.people.list({ limit: 2, cursor: first.next_cursor ?? '' });
      expect([...first.data, ...rest.data].map(({ email }) => email)).toEqual([ADA, BEN, 'c@example.com']);
      expect(rest.next_cursor).toBeNull();
      expect(Object.keys(first.data[0] ?? {}).sort()).toEqual([
        ...['created_at', 'disabled_at', 'email', 'name', 'person_id', 'role', 'second_factor'],
      ]);
    });

    test('is out at once when disabled, and in again without the old session', async () => {
      const ben = await at.join(BEN);
      const { people, sessions } = at.accounts;
      const token = await at.signIn(BEN);
      await people.disable(OWNER, ben);
      expect(await sessions.find(token)).toBeNull();
      await expect(at.signIn(BEN)).rejects.toMatchObject({ code: 'not_signed_in' });
      await people.enable(OWNER, ben);
      expect(await sessions.find(token)).toBeNull();
      await at.signIn(BEN);
      await expect(people.disable(OWNER, 'nobody')).rejects.toMatchObject({ code: 'not_found' });
    });

    test('who is disabled while they sign in gets no session', async () => {
      const ben = await at.join(BEN);
      const signingIn = outcomes([at.signIn(BEN)]);
      await at.accounts.people.disable(OWNER, ben);
      await signingIn;
      await at.accounts.people.enable(OWNER, ben);
      const left = await database.tables<AccountTables>().selectFrom('sessions').selectAll().execute();
      // The session from the account's creation has ended too.
      expect(left).toEqual([]);
    });

    test('has always an owner: the last one is neither disabled nor made less', async () => {
      const ada = await at.join(ADA, 'owner');
      const { people } = at.accounts;
      await expect(people.disable(OWNER, ada)).rejects.toMatchObject({ code: 'conflict' });
      await expect(people.changeRole(OWNER, ada, 'auditor')).rejects.toMatchObject({ code: 'conflict' });
      const cyd = await at.join('cyd@example.com', 'owner');
      const both = [people.disable(OWNER, ada), people.changeRole(OWNER, cyd, 'operator')];
      expect(await outcomes(both)).toEqual(['conflict', 'done']);
    });

    test('nobody gives, or gives back, a role that may more than they', async () => {
      const ben = await at.join(BEN);
      const ada = await at.join(ADA, 'owner');
      const { people } = at.accounts;
      const actor = { name: 'key:k', scopes: ['people:write'] as const };
      await expect(people.changeRole(actor, ben, 'owner')).rejects.toMatchObject({ code: 'forbidden' });
      await expect(people.enable(actor, ada)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(people.removeSecondFactor(actor, ada)).rejects.toMatchObject({ code: 'forbidden' });
    });

    test('has another role from the next request on', async () => {
      const ben = await at.join(BEN);
      const token = await at.signIn(BEN);
      await at.accounts.people.changeRole(OWNER, ben, 'operator');
      expect(await at.accounts.sessions.find(token)).toMatchObject({ role: 'operator' });
    });

    test('who lost their second factor signs in without it once it was removed, and is told', async () => {
      const ada = await at.join(ADA);
      const secret = newTotpSecret();
      await at.accounts.credentials.addAuthenticator(await at.signIn(ADA), secret, at.codeOf(secret));
      await expect(at.signIn(ADA)).rejects.toMatchObject({ code: 'not_signed_in' });
      expect(await at.post()).toMatchObject([{ to: ADA, subject: 'A second factor was added to your account' }]);
      await at.accounts.people.removeSecondFactor(OWNER, ada);
      await at.signIn(ADA);
      expect(await at.post()).toMatchObject([{ to: ADA, subject: 'A second factor was removed from your account' }]);
    });
  });

  test('each act is recorded with who did it, and what changes nothing is not', async () => {
    const { joining, invitations, people, credentials } = at.accounts;
    const link = await joining.setUpLink(OWNER);
    const { personId: ada, session } = await joining.setUp(link, { ...SOMEBODY, email: ADA });
    const owner = { name: `person:${ada}`, scopes: OWNER.scopes };
    await invitations.invite(owner, { email: BEN, role: 'auditor' });
    const { personId: ben } = await joining.accept(await at.mailedToken(), SOMEBODY);
    for (const role of ['operator', 'operator'] satisfies Role[]) await people.changeRole(owner, ben, role);
    for (const _ of 'ab') await people.disable(owner, ben);
    for (const _ of 'ab') await people.enable(owner, ben);
    await credentials.addAuthenticator(session, Buffer.alloc(20), at.codeOf(Buffer.alloc(20)));
    for (const _ of 'ab') await people.removeSecondFactor(owner, ada);
    await credentials.changePassword(session, NETWORK, { password: PASSWORD, next: OTHER_PASSWORD });
    await credentials.reset(await credentials.resetLink(OWNER, ADA), PASSWORD);
    await at.signIn(ADA);
    const acts = await at.acts();
    expect(acts.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      'command:test set_up_link.made',
      `person:${ada} person.joined`,
      `person:${ada} person.invited`,
      `person:${ben} person.joined`,
      `person:${ada} person.role_changed`,
      `person:${ada} person.disabled`,
      `person:${ada} person.enabled`,
      `person:${ada} second_factor.added`,
      `person:${ada} second_factor.removed`,
      `person:${ada} password.changed`,
      'command:test password.reset_link_made',
      `person:${ada} password.reset`,
      `person:${ada} person.signed_in`,
    ]);
    // Entries are never erased, but people may demand erasure.
    expect(JSON.stringify(acts)).not.toMatch(/example\.com|"Ada"/);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountsTidyJob } from '../../../src/platform/accounts/accounts.ts';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { sealedSignUps } from '../../../src/platform/accounts/sealed-rows.ts';
import { refuseOtherDomain } from '../../../src/platform/accounts/sign-up-policy.ts';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { canonicalEmail } from '../../../src/platform/mail/address.ts';
import { SCOPES } from '../../../src/platform/scopes.ts';
import { signUpDomainSchema } from '../../../src/platform/settings.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { NETWORK, outcomes, PASSWORD, PeoplePlace } from './people-place.ts';

const [ADA, BEN, OTHER] = ['ada@example.com', 'ben@example.com', 'other-owner@example.com'];
const DAY = 24 * 60 * 60_000;
const SOMEBODY = { name: 'Ben', password: PASSWORD };
const OWNER = byCommand('test');

describe.each(DATABASES)('signing up with approval on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let at: PeoplePlace;
  beforeEach(async () => {
    ({ database } = await place.createMigrated());
    at = new PeoplePlace(database, undefined, 'approval');
    await at.join(ADA, 'owner');
  });

  const confirm = async (email = BEN, joiner = SOMEBODY) => {
    const token = await at.link('confirm', { email, role: 'auditor' });
    return at.accounts.joining.confirm(token, joiner);
  };
  const waiting = async () => (await at.accounts.signUps.list({ limit: 50 })).data;
  const idOf = async () => (await waiting())[0]?.sign_up_id ?? expect.unreachable();
  const actions = async () => (await at.acts()).map(({ action }) => action);
  const subjects = async () => (await at.post()).map(({ to, subject }) => [to, subject]);

  test('makes no account before an owner approves, so that nothing can be done or read', async () => {
    await at.join(OTHER, 'owner');
    const gone = await at.join('gone@example.com', 'owner');
    await at.accounts.people.disable(OWNER, gone);
    await at.accounts.joining.signUp(BEN, NETWORK);
    const token = await at.mailedToken();
    const sessions = database.tables<AccountTables>().selectFrom('sessions').selectAll();
    const before = (await sessions.execute()).length;
    expect(await at.accounts.joining.confirm(token, SOMEBODY)).toBeNull();
    expect(await outcomes([at.accounts.joining.confirm(token, SOMEBODY)])).toEqual(['link_used']);
    expect((await sessions.execute()).length).toBe(before);
    expect(await outcomes([at.signIn(BEN)])).toEqual(['not_signed_in']);
    expect(await outcomes([at.accounts.people.byEmail(BEN)])).toEqual(['not_found']);
    expect(await subjects()).toEqual([
      [ADA, 'Somebody waits for your approval'],
      [OTHER, 'Somebody waits for your approval'],
    ]);
    await at.accounts.credentials.forgot(BEN, NETWORK);
    expect(await subjects()).toEqual([]);
    expect(await waiting()).toMatchObject([{ email: BEN, name: 'Ben' }]);
    expect(JSON.stringify(await waiting())).not.toContain('scrypt');
  });

  test('lets in who was approved, once, and says so', async () => {
    await confirm();
    await at.post();
    const id = await idOf();
    const both = await outcomes([1, 2, 3].map(() => at.accounts.signUps.approve(OWNER, id)));
    expect(both).toEqual(['done', 'not_found', 'not_found']);
    expect(await subjects()).toEqual([[BEN, 'Your account was approved']]);
    expect(await at.accounts.sessions.find(await at.signIn(BEN))).toMatchObject({ role: 'auditor', name: 'Ben' });
    expect((await at.acts()).slice(-3)).toMatchObject([
      { action: 'sign_up.confirmed', actor: 'nobody', resource_type: 'sign_up', resource_id: id },
      { action: 'sign_up.approved', metadata: { role: 'auditor', sign_up_id: id } },
      { action: 'person.signed_in' },
    ]);
    expect(JSON.stringify(await at.acts())).not.toContain(BEN);
    expect(await outcomes([confirm()])).toEqual(['conflict']);
  });

  test('forgets who was declined, and tells them', async () => {
    await confirm();
    await at.post();
    const id = await idOf();
    const both = await outcomes([at.accounts.signUps.decline(OWNER, id), at.accounts.signUps.approve(OWNER, id)]);
    expect(both).toEqual(['done', 'not_found']);
    expect(await waiting()).toEqual([]);
    await confirm();
    await at.accounts.signUps.decline(OWNER, await idOf());
    expect(await outcomes([at.signIn(BEN)])).toEqual(['not_signed_in']);
    expect((await actions()).filter((action) => action === 'sign_up.declined').length).toBeGreaterThan(0);
  });

  test('is needed from who may let in an auditor', async () => {
    await confirm();
    const operator = { name: 'person:x', scopes: SCOPES.filter((scope) => !scope.startsWith('people:')) };
    expect(await outcomes([(async () => at.accounts.signUps.approve(operator, await idOf()))()])).toEqual([
      'forbidden',
    ]);
    expect(await waiting()).toHaveLength(1);
  });

  test('keeps one place for who confirms again, with the last password, and tells owners once', async () => {
    await confirm();
    const id = await idOf();
    await at.post();
    await confirm(BEN, { name: 'Benjamin', password: 'the third door on the left' });
    expect(await at.post()).toEqual([]);
    expect(await waiting()).toMatchObject([{ sign_up_id: id, name: 'Benjamin' }]);
    await at.accounts.signUps.approve(OWNER, id);
    expect(await outcomes([at.signIn(BEN)])).toEqual(['not_signed_in']);
    expect(await at.signIn(BEN, { password: 'the third door on the left' })).not.toBe('');
  });

  test('is over for who was invited meanwhile', async () => {
    await confirm();
    const id = await idOf();
    await at.join(BEN);
    expect(await waiting()).toEqual([]);
    expect(await outcomes([at.accounts.signUps.approve(OWNER, id)])).toEqual(['not_found']);
  });

  test('is forgotten after 30 days, and lets no more than a thousand wait', async () => {
    await confirm();
    at.now += 29 * DAY;
    await accountsTidyJob(database, at.clock).run();
    expect(await waiting()).toHaveLength(1);
    at.now += 2 * DAY;
    await accountsTidyJob(database, at.clock).run();
    expect(await waiting()).toEqual([]);
    const requested_at = at.clock().toISOString();
    await database.write((transaction) =>
      transaction
        .tables<AccountTables>()
        .insertInto('sign_ups')
        .values(
          Array.from({ length: 1000 }, (_, each) => {
            const text = String(each);
            const row = { sign_up_id: text, email: text, name: text, password: text, requested_at };
            return sealedSignUps.sealed(transaction, row);
          }),
        )
        .execute(),
    );
    expect(await outcomes([confirm()])).toEqual(['conflict']);
  });

  test('is not approved with another password than that of the person, and can be declined', async () => {
    await confirm();
    const id = (await waiting())[0]?.sign_up_id ?? '';
    await database.write((transaction) =>
      transaction.tables<AccountTables>().updateTable('sign_ups').set({ password: 'of another' }).execute(),
    );
    expect(await outcomes([at.accounts.signUps.approve(OWNER, id)])).toEqual(['row_changed']);
    expect(await outcomes([confirm()])).toEqual(['row_changed']);
    await at.accounts.signUps.decline(OWNER, id);
    expect(await waiting()).toEqual([]);
  });

  test('is refused to an address of another domain, also by a link from before', async () => {
    at.domains.push('good.example', 'xn--mnchen-3ya.example');
    const { joining } = at.accounts;
    await expect(joining.signUp(BEN, NETWORK)).rejects.toMatchObject({
      code: 'forbidden',
      message: 'sign-up needs an address at good.example or xn--mnchen-3ya.example',
    });
    expect(await at.post()).toEqual([]);
    expect(await outcomes([confirm()])).toEqual(['forbidden']);
    await joining.signUp('Eve@GOOD.example', NETWORK);
    expect(await joining.confirm(await at.mailedToken(), SOMEBODY)).toBeNull();
    at = new PeoplePlace(database, undefined, 'closed');
    expect(await outcomes([confirm('eve@good.example')])).toEqual(['forbidden']);
  });
});

test.each([
  ['a@good.example', true],
  [' A@Good.EXAMPLE ', true],
  ['a@good.example.', false],
  ['a@good.example@evil.example', false],
  ['a@evil.example@good.example', false],
  ['"a@good.example"@evil.example', false],
  ['a@sub.good.example', false],
  ['a@notgood.example', false],
  ['a@good.example.evil.example', false],
  ['a@good.examp\u217Ce', false],
  ['a@g\u043Eod.example', false],
  ['a@xn--mnchen-3ya.example', true],
  ['a@m\u00FCnchen.example', false],
  ['good.example', false],
  ['@good.example', false],
  ['a@good.example\n', true],
  ['a@good.example\nb@evil.example', false],
])('%j may sign up where two domains may: %s', (typed, may) => {
  const policy = { mode: 'open' as const, domains: ['good.example', 'xn--mnchen-3ya.example'] };
  const judge = () => refuseOtherDomain(policy, canonicalEmail(typed));
  if (may) expect(judge).not.toThrow();
  else expect(judge).toThrow('sign-up needs an address at');
});

test.each([
  ['Example.COM', 'example.com'],
  ['m\u00FCnchen.example', 'xn--mnchen-3ya.example'],
  ['example.com.', null],
  ['@example.com', null],
  ['*.example.com', null],
  ['', null],
  ['a b', null],
  ['https://example.com', null],
])('the setting of the domain %j is %j', (written, domain) => {
  expect(signUpDomainSchema.safeParse(written).data ?? null).toBe(domain);
});

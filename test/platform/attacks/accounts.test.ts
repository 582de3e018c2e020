import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { emailSchema } from '../../../src/platform/mail/address.ts';
import { CHEAP, outcomes, PASSWORD, PeoplePlace } from '../accounts/people-place.ts';
import { type DatabasePlace, startSqlitePlace } from '../database/databases.ts';

const [ADA, BEN] = ['ada@example.com', 'ben@example.com'];
const OWNER = byCommand('test');
const JOINER = { name: 'Somebody', password: PASSWORD };
const MINUTE = 60_000;

let place: DatabasePlace;
let database: Database;
let at: PeoplePlace;
beforeAll(async () => {
  place = await startSqlitePlace();
});
afterAll(() => place.close());

const start = async (mode: 'open' | 'approval' | 'closed') => {
  ({ database } = await place.createMigrated());
  at = new PeoplePlace(database, undefined, mode, CHEAP);
  await at.join(ADA, 'owner');
};
const people = async () =>
  (
    await database.tables<AccountTables>().selectFrom('people').select(['email', 'role']).orderBy('email').execute()
  ).map(({ email, role }) => `${email} ${role}`);

describe('an address is refused or the same', () => {
  beforeEach(() => start('open'));

  test.each([
    ['with a Cyrillic letter', 'аda@example.com'],
    ['with wide letters', 'ａda@example.com'],
    ['with a Turkish letter', 'adI\u0307@example.com'],
    ['with a space of no width', 'ada\u200b@example.com'],
    ['with a letter from right to left', '\u202eada@example.com'],
    ['with a second recipient', 'ada@example.com,eve@evil.example'],
    ['with a second header', 'ada@example.com\r\nBcc: eve@evil.example'],
    ['with a name', 'Ada <ada@example.com>'],
    ['in quotes', '"ada"@example.com'],
    ['with a comment', 'ada(x)@example.com'],
    ['with U+0000', 'ada\0@example.com'],
    ['with a wildcard of a domain', 'ada@*.example.com'],
    ['with a dot at its end', 'ada@example.com.'],
    ['at a number', 'ada@[127.0.0.1]'],
    ['with two signs', 'ada@evil@example.com'],
    ['without a name', '@example.com'],
    ['of 300 characters', `${'a'.repeat(290)}@example.com`],
  ])('%s', (_name, address) => {
    expect(emailSchema.safeParse(address).success).toBe(false);
  });

  test.each(['ADA@EXAMPLE.COM', ' ada@example.com ', 'Ada@Example.com'])(
    'as %j, which makes no second account',
    async (address) => {
      await at.accounts.joining.signUp(address, 'n');
      expect((await at.post()).map(({ to, subject }) => [to, subject])).toEqual([[ADA, 'You already have an account']]);
      expect(await people()).toEqual([`${ADA} owner`]);
    },
  );
});

describe('a sign-up at some domains is refused', () => {
  beforeEach(async () => {
    await start('open');
    at.domains.push('good.example');
  });

  test.each([
    'eve@evil.example',
    'eve@sub.good.example',
    'eve@good.example.evil.example',
    'eve@evilgood.example',
    'eve@good.example@evil.example',
    'eve@good-example',
    'eve@GOOD.EXAMPLE.',
    'good.example@evil.example',
    'eve@gооd.example',
    'eve',
    '',
  ])('to %j', async (address) => {
    expect(await outcomes([at.accounts.joining.signUp(address, 'n')])).toEqual(['forbidden']);
    expect(await at.post()).toEqual([]);
  });
});

describe('a link makes no more than what it is for', () => {
  beforeEach(() => start('approval'));
  const invite = (content: object = { email: BEN, role: 'auditor' }) => at.link('invite', content);

  const ATTACKS: readonly (readonly [name: string, attack: () => Promise<unknown>, outcome: string])[] = [
    ['an invitation as a sign-up', async () => at.accounts.joining.confirm(await invite(), JOINER), 'link_used'],
    [
      'an invitation as the first account',
      async () => at.accounts.joining.setUp(await invite(), { ...JOINER, email: BEN }),
      'link_used',
    ],
    [
      'an invitation as a new password',
      async () => at.accounts.credentials.reset(await invite(), PASSWORD),
      'link_used',
    ],
    [
      'a sign-up as an invitation',
      async () => at.accounts.joining.accept(await at.link('confirm', { email: BEN, role: 'owner' }), JOINER),
      'link_used',
    ],
    [
      'a new password of nobody',
      async () => at.accounts.credentials.reset(await at.link('reset', { person_id: null }), PASSWORD),
      'link_used',
    ],
    [
      'an invitation of an address with an account',
      async () => at.accounts.joining.accept(await invite({ email: ADA, role: 'auditor' }), JOINER),
      'conflict',
    ],
    [
      'a sign-up of an address with an account',
      async () => at.accounts.joining.confirm(await at.link('confirm', { email: ADA, role: 'auditor' }), JOINER),
      'conflict',
    ],
    [
      'the first account beside another',
      async () => at.accounts.joining.setUp(await at.link('set_up'), { ...JOINER, email: BEN }),
      'link_used',
    ],
    ['another link for the first account', () => at.accounts.joining.setUpLink(OWNER), 'conflict'],
    [
      'an invitation after a day',
      async () => {
        const token = await invite();
        at.now += 24 * 60 * MINUTE;
        return at.accounts.joining.accept(token, JOINER);
      },
      'link_used',
    ],
    [
      'a link without its last character',
      async () => at.accounts.joining.accept((await invite()).slice(0, -1), JOINER),
      'link_used',
    ],
    ['a link and a blank', async () => at.accounts.joining.accept(`${await invite()} `, JOINER), 'link_used'],
    ['no link', () => at.accounts.joining.accept('', JOINER), 'link_used'],
    [
      'the ID of a link',
      async () => {
        await invite();
        const { data } = await at.accounts.invitations.list({ limit: 1 });
        return at.accounts.joining.accept(data[0]?.link_id ?? '', JOINER);
      },
      'link_used',
    ],
    [
      'a password that is the address',
      async () => at.accounts.joining.accept(await invite(), { ...JOINER, password: `x${BEN}` }),
      'weak_password',
    ],
    [
      'a password that is the name',
      async () =>
        at.accounts.joining.accept(await invite(), { name: 'Benjamin Franklin', password: 'benjamin franklin' }),
      'weak_password',
    ],
    [
      'a password of 11 characters',
      async () => at.accounts.joining.accept(await invite(), { ...JOINER, password: 'xK3#pQ9!zL2' }),
      'weak_password',
    ],
    [
      'a password of one letter',
      async () => at.accounts.joining.accept(await invite(), { ...JOINER, password: 'é'.repeat(40) }),
      'weak_password',
    ],
  ];

  test.each(ATTACKS)('%s', async (_name, attack, outcome) => {
    expect(await outcomes([attack()])).toEqual([outcome]);
    expect(await people()).toEqual([`${ADA} owner`]);
  });

  test('of invitations of one address with two roles, the first that is accepted ends the other', async () => {
    const [low, high] = [await invite(), await invite({ email: BEN, role: 'owner' })];
    await at.accounts.joining.accept(low, JOINER);
    expect(await outcomes([at.accounts.joining.accept(high, JOINER)])).toEqual(['link_used']);
    expect(await people()).toEqual([`${ADA} owner`, `${BEN} auditor`]);
  });
});

describe('there is always an owner', () => {
  beforeEach(() => start('closed'));

  test.each([
    [
      'both make each other less',
      (ids: string[]) => ids.map((id) => at.accounts.people.changeRole(OWNER, id, 'auditor')),
    ],
    ['both disable each other', (ids: string[]) => ids.map((id) => at.accounts.people.disable(OWNER, id))],
    [
      'one disables, one makes less',
      ([one = '', other = '']: string[]) => [
        at.accounts.people.disable(OWNER, one),
        at.accounts.people.changeRole(OWNER, other, 'operator'),
      ],
    ],
  ])('when %s', async (_name, acts) => {
    const ben = await at.join(BEN, 'owner');
    const ada = (await at.accounts.people.byEmail(ADA)).person_id;
    expect(await outcomes(acts([ada, ben]))).toEqual(['conflict', 'done']);
  });

  test('and one who is disabled is none', async () => {
    const ben = await at.join(BEN, 'owner');
    await at.accounts.people.disable(OWNER, ben);
    const ada = (await at.accounts.people.byEmail(ADA)).person_id;
    expect(await outcomes([at.accounts.people.changeRole(OWNER, ada, 'auditor')])).toEqual(['conflict']);
    expect(await outcomes([at.signIn(BEN)])).toEqual(['not_signed_in']);
  });
});

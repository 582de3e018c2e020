import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import type { Role } from '../../../src/platform/accounts/enums.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { NETWORK, PASSWORD, PeoplePlace } from './people-place.ts';

const HOUR = 60 * 60_000;
const ADA = 'ada@example.com';
const BEN = 'ben@example.com';
const OWNER = byCommand('test');
const JOINER = { name: 'Ben', password: PASSWORD };
const ENDED = { code: 'link_used' };
const NONE = { code: 'not_found' };

describe.each(DATABASES)('invitations on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let at: PeoplePlace;
  beforeEach(async () => {
    const { database } = await place.createMigrated();
    at = new PeoplePlace(database);
  });

  /** Invites a person. @returns the invitation's id, and the token in the letter. */
  const invite = async (email = BEN, role: Role = 'auditor', actor = OWNER) => {
    const { link_id } = await at.accounts.invitations.invite(actor, { email, role });
    return { link_id, token: await at.mailedToken() };
  };
  const open = async () => (await at.accounts.invitations.list({ limit: 50 })).data;

  test('are listed while they are open: whom, as what, by whom, until when', async () => {
    const ada = await at.join(ADA, 'owner');
    const actor = { name: `person:${ada}`, scopes: OWNER.scopes };
    const { link_id, token } = await invite(BEN, 'operator', actor);
    expect(await open()).toEqual([
      {
        link_id,
        email: BEN,
        role: 'operator',
        invited_by: `person:${ada}`,
        expires_at: new Date(at.now + 24 * HOUR).toISOString(),
      },
    ]);
    await at.accounts.joining.accept(token, JOINER);
    expect(await open()).toEqual([]);
    await invite('cy@example.com');
    at.now += 24 * HOUR - 1;
    expect(await open()).toHaveLength(1);
    at.now += 1;
    expect(await open()).toEqual([]);
  });

  test('are listed page by page, each once, also those of one moment; other links are not', async () => {
    await at.accounts.joining.setUpLink(OWNER);
    const ada = await at.join(ADA, 'owner');
    await at.accounts.joining.signUp('new@example.com', NETWORK);
    await at.accounts.credentials.forgot(ADA, NETWORK);
    await at.link('reset', { person_id: ada });
    const ids: string[] = [];
    for (const name of 'abcde') {
      ids.push((await at.accounts.invitations.invite(OWNER, { email: `${name}@x.y`, role: 'auditor' })).link_id);
      if (name === 'c') at.now += HOUR;
    }
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await at.accounts.invitations.list({ limit: 2, cursor });
      pages.push(page.data.map(({ link_id }) => link_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat()).toEqual([...ids.slice(0, 3).toSorted(), ...ids.slice(3).toSorted()]);
  });

  test('that are withdrawn let nobody in, and neither are withdrawn nor sent again', async () => {
    const { link_id, token } = await invite();
    const { joining, invitations } = at.accounts;
    expect(await invitations.withdraw(OWNER, link_id)).toMatchObject({ link_id, email: BEN, role: 'auditor' });
    await expect(joining.readInvitation('invite', token)).rejects.toMatchObject(ENDED);
    await expect(joining.accept(token, JOINER)).rejects.toMatchObject(ENDED);
    for (const act of ['withdraw', 'sendAgain'] as const)
      await expect(invitations[act](OWNER, link_id)).rejects.toMatchObject(NONE);
    expect([await open(), await at.post()]).toEqual([[], []]);
    expect((await at.acts()).map(({ action, resource_id }) => [action, resource_id])).toEqual([
      ['person.invited', link_id],
      ['invitation.withdrawn', link_id],
    ]);
  });

  test('that are withdrawn before their letters were sent are not mailed, and nothing is given up', async () => {
    const { invitations } = at.accounts;
    const { link_id } = await invitations.invite(OWNER, { email: BEN, role: 'auditor' });
    await invitations.sendAgain(OWNER, link_id);
    await invitations.withdraw(OWNER, link_id);
    await invitations.invite(OWNER, { email: 'cy@example.com', role: 'auditor' });
    expect((await at.post()).map(({ to }) => to)).toEqual(['cy@example.com']);
    expect(await at.givenUp()).toEqual([]);
  });

  test('whose letters could not be sent for a day are not mailed, which a person is told', async () => {
    await at.accounts.invitations.invite(OWNER, { email: BEN, role: 'auditor' });
    at.now += 24 * HOUR;
    expect(await at.post()).toEqual([]);
    expect(await at.givenUp()).toMatchObject([
      { kind: 'mail', last_error: expect.stringContaining('expired after 24 hours') },
    ]);
  });

  test('that are sent again are good for a day from then on, by one link, once', async () => {
    const { link_id, token } = await invite();
    const { joining, invitations } = at.accounts;
    at.now += 23 * HOUR;
    const { expires_at } = await invitations.sendAgain(OWNER, link_id);
    expect(expires_at).toBe(new Date(at.now + 24 * HOUR).toISOString());
    expect(await open()).toMatchObject([{ link_id, expires_at }]);
    expect(await at.mailedToken()).toBe(token);
    at.now += 23 * HOUR;
    const both = await Promise.allSettled([1, 2].map(() => joining.accept(token, JOINER)));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(invitations.sendAgain(OWNER, link_id)).rejects.toMatchObject(NONE);
  });

  test('that nobody followed in time are not sent again: they are made anew', async () => {
    const { link_id, token } = await invite();
    at.now += 24 * HOUR;
    for (const act of ['withdraw', 'sendAgain'] as const)
      await expect(at.accounts.invitations[act](OWNER, link_id)).rejects.toMatchObject(NONE);
    await expect(at.accounts.joining.accept(token, JOINER)).rejects.toMatchObject(ENDED);
  });

  test('of somebody who has an account by now are over, whatever they were for', async () => {
    await at.join(ADA, 'owner');
    const [first, second] = [await invite(), await invite(BEN, 'owner')];
    const other = await invite('cy@example.com');
    await at.accounts.joining.signUp(BEN, NETWORK);
    await at.accounts.joining.confirm(await at.mailedToken(), JOINER);
    expect((await open()).map(({ link_id }) => link_id)).toEqual([other.link_id]);
    for (const { token } of [first, second])
      await expect(at.accounts.joining.accept(token, JOINER)).rejects.toMatchObject(ENDED);
  });

  test('are what is withdrawn or sent again: no other link is, whatever its id', async () => {
    await at.accounts.joining.setUpLink(OWNER);
    const links = await at.database
      .tables<{ links: { link_id: string } }>()
      .selectFrom('links')
      .select('link_id')
      .execute();
    for (const id of [...links.map(({ link_id }) => link_id), 'x', ''])
      for (const act of ['withdraw', 'sendAgain'] as const)
        await expect(at.accounts.invitations[act](OWNER, id)).rejects.toMatchObject(NONE);
    expect(await at.post()).toEqual([]);
  });

  test('that are withdrawn while somebody accepts make an account, or none', async () => {
    const { link_id, token } = await invite();
    const { joining, invitations, people } = at.accounts;
    const [accepted, withdrawn] = await Promise.allSettled([
      joining.accept(token, JOINER),
      invitations.withdraw(OWNER, link_id),
    ]);
    expect([accepted.status, withdrawn.status].sort()).toEqual(['fulfilled', 'rejected']);
    expect((await people.list({ limit: 9 })).data).toHaveLength(accepted.status === 'fulfilled' ? 1 : 0);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHEAP, outcomes, PeoplePlace } from '../accounts/people-place.ts';
import { type DatabasePlace, startSqlitePlace } from '../database/databases.ts';

const [ADA, BEN] = ['ada@example.com', 'ben@example.com'];
const MINUTE = 60_000;

let place: DatabasePlace;
let at: PeoplePlace;
beforeAll(async () => {
  place = await startSqlitePlace();
});
afterAll(() => place.close());

const start = async () => {
  const { database } = await place.createMigrated();
  at = new PeoplePlace(database, undefined, 'closed', CHEAP);
  await at.join(ADA, 'owner');
};

describe('guesses gain nothing', () => {
  beforeEach(start);
  const wrong = (network: string, device?: string, email = ADA) =>
    at.signIn(email, { password: 'wrong', network, ...(device === undefined ? {} : { device }) });
  const counted = async (attempts: readonly Promise<unknown>[]) =>
    (await outcomes(attempts)).filter((each) => each === 'not_signed_in').length;

  test.each([
    ['from addresses of one IPv6 network of a site', (n: number) => `2001:db8:1:${n}`, 5],
    ['by addresses in capitals', () => '192.0.2.7', 5],
  ] as const)('%s', async (_name, network, most) => {
    const emails = [ADA, ADA.toUpperCase(), ` ${ADA}`, 'Ada@example.com', ADA, ADA, ADA, ADA];
    expect(await counted(emails.map((email, n) => wrong(network(n), undefined, email)))).toBe(most);
  });

  test.each([
    ['of another person', () => at.accounts.devices.cookie(BEN)],
    ['that is empty', () => ''],
    ['that was changed', () => `${at.accounts.devices.cookie(ADA).slice(0, -4)}AAAA`],
    ['that is too long', () => 'A'.repeat(5000)],
    ['that is a ticket', () => 'e30'],
  ])('by the cookie of a device %s', async (_name, cookie) => {
    expect(await counted(Array.from({ length: 8 }, () => wrong('192.0.2.8', cookie())))).toBe(5);
  });

  test('by a cookie of a device after half a year', async () => {
    const cookie = at.accounts.devices.cookie(ADA);
    at.now += 181 * 24 * 60 * MINUTE;
    expect(await counted(Array.from({ length: 8 }, () => wrong('192.0.2.9', cookie)))).toBe(5);
  });

  test('and keep nobody out who has been here', async () => {
    const device = at.accounts.devices.cookie(ADA);
    for (let network = 0; network < 110; network++) await outcomes([wrong(`198.51.100.${network}`)]);
    expect(await at.signIn(ADA, { device, network: '203.0.113.1' })).not.toBe('');
  });
});

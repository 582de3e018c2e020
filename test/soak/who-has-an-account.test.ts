import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORDS } from '../../src/platform/accounts/password.ts';
import { migrateAll } from '../../src/platform/migrations.ts';
import { PeoplePlace } from '../platform/accounts/people-place.ts';
import { type DatabasePlace, startSqlitePlace } from '../platform/database/databases.ts';

const ADA = 'ada@example.com';

let place: DatabasePlace;
let at: PeoplePlace;
beforeAll(async () => {
  place = await startSqlitePlace();
  const { database } = await place.create();
  await migrateAll(database);
  at = new PeoplePlace(database, randomBytes(32), 'open', PASSWORDS);
  await at.join(ADA, 'owner');
});
afterAll(() => place.close());

/** Operations to time, with the number of rounds and the bound on the difference of medians. */
const ROWS: readonly [string, (email: string, network: string) => Promise<unknown>, number, number][] = [
  ['signing in', (email, network) => refused(at.signIn(email, { password: 'not the password', network })), 30, 0.1],
  ['a new password', (email, network) => at.accounts.credentials.forgot(email, network), 400, 0.3],
  ['signing up', (email, network) => at.accounts.joining.signUp(email, network), 400, 0.3],
];

test.each(ROWS)(
  '%s takes as long for an address without an account as for one with it',
  async (_what, ask, times, tolerance) => {
    const taken: Record<'somebody' | 'nobody', number[]> = { somebody: [], nobody: [] };
    for (let time = 0; time < times; time++) {
      // The clock passes the pauses after wrong passwords.
      at.now += 25 * 60 * 60_000;
      const order = time % 2 === 0 ? (['somebody', 'nobody'] as const) : (['nobody', 'somebody'] as const);
      for (const who of order) {
        const email = who === 'somebody' ? ADA : `${randomBytes(2).toString('hex')}@example.com`;
        const begun = performance.now();
        await ask(email, `${who} ${time}`);
        taken[who].push(performance.now() - begun);
      }
    }
    const [somebody, nobody] = [middle(taken.somebody), middle(taken.nobody)];
    process.stdout.write(`  with an account ${somebody.toFixed(2)} ms, without ${nobody.toFixed(2)} ms\n`);
    expect(Math.abs(somebody / nobody - 1)).toBeLessThan(tolerance);
  },
  120_000,
);

function refused(attempt: Promise<unknown>): Promise<void> {
  return expect(attempt).rejects.toMatchObject({ code: 'not_signed_in' });
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

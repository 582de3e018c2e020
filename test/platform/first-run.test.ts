import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKey } from '../../src/platform/accounts/key.ts';
import { updatePerson } from '../../src/platform/accounts/person-rows.ts';
import type { AccountTables } from '../../src/platform/accounts/tables.ts';
import { startPlatform } from '../../src/platform/app.ts';
import { bootstrap } from '../../src/platform/bootstrap.ts';
import { initPlatform } from '../../src/platform/init.ts';
import { openParts, withParts } from '../../src/platform/parts.ts';
import { call } from './service.ts';

const PASSWORD = 'a long walk by the sea';

let folder: string;
let dataDir: string;
let apiKey: string;
let setUpToken: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'first-run-'));
  dataDir = join(folder, 'data');
  ({ apiKey, setUpToken } = await initPlatform({ dataDir }, { isRecorded: true }));
  await writeFile(join(folder, 'password'), `${PASSWORD}\n`);
});
afterEach(() => rm(folder, { recursive: true }));

const environment = (more: Record<string, string> = {}) => ({
  EVIDENCE_BOOTSTRAP_EMAIL: 'Ada@Example.com',
  EVIDENCE_BOOTSTRAP_PASSWORD_FILE: join(folder, 'password'),
  EVIDENCE_BOOTSTRAP_KEY_FILE: join(folder, 'key'),
  ...more,
});

/** Starts and ends a platform. @returns its message about the first account, and the result of `use` meanwhile. */
async function serve<T>(variables: Record<string, string>, use: (origin: string) => Promise<T>) {
  const platform = await startPlatform({ dataDir, port: 0, logLevel: 'silent', environment: variables });
  try {
    return { bootstrapped: platform.bootstrapped, used: await use(platform.origin) };
  } finally {
    await platform.close();
  }
}

const people = () => withParts({ dataDir }, async ({ accounts }) => (await accounts.people.list({ limit: 9 })).data);
const signIn = (password: string) =>
  withParts({ dataDir }, ({ accounts }) =>
    accounts.signIn.signIn({ email: 'ada@example.com', password, network: '192.0.2.1' }).then(
      () => 'signed in',
      ({ code }) => code,
    ),
  );
const statusWith = (key: string) => async (origin: string) => (await call(origin, key, 'GET', '/keys/')).status;

test('init hands over a key and a link, and records it', async () => {
  await withParts({ dataDir }, async ({ accounts, administration: _, log, database }) => {
    const owner = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    await accounts.joining.setUp(setUpToken, owner);
    const acts = await log.newest(database, 'platform/administration', { limit: 9 });
    expect(acts.map(({ actor, action }) => [actor, action]).toReversed()).toEqual([
      ['command:init', 'platform.initialised'],
      [expect.stringMatching(/^person:/), 'person.joined'],
    ]);
    expect(JSON.stringify(acts)).not.toContain(apiKey);
    expect(JSON.stringify(acts)).not.toContain(setUpToken);
  });
});

describe('the variables of the bootstrap', () => {
  test('make the first owner and a key, once; changed variables change nothing afterwards', async () => {
    const first = await serve(environment(), async () => {});
    expect(first.bootstrapped).toBe(
      'created the first account, ada@example.com, as specified by EVIDENCE_BOOTSTRAP_EMAIL',
    );
    const key = (await readFile(join(folder, 'key'), 'utf8')).trim();
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
    expect(await people()).toMatchObject([{ email: 'ada@example.com', role: 'owner' }]);
    await writeFile(join(folder, 'password'), 'another one altogether');
    for (const more of [
      { EVIDENCE_BOOTSTRAP_KEY_FILE: join(folder, 'other') },
      { EVIDENCE_BOOTSTRAP_EMAIL: 'ben@example.com' },
      { EVIDENCE_BOOTSTRAP_EMAIL: 'none' },
      { EVIDENCE_BOOTSTRAP_PASSWORD_FILE: join(folder, 'gone') },
    ]) {
      const before = await people();
      const again = await serve(environment(more), statusWith(key));
      expect(again).toEqual({ bootstrapped: null, used: 200 });
      expect(await people()).toEqual(before);
    }
    expect(await readdir(folder)).toEqual(['data', 'key', 'password']);
    expect([await signIn(PASSWORD), await signIn('another one altogether')]).toEqual(['signed in', 'not_signed_in']);
  });

  test('also do nothing once the account that they made is disabled', async () => {
    await serve(environment(), async () => {});
    await withParts({ dataDir }, ({ database }) =>
      database.write(async (transaction) => {
        const people = transaction.tables<AccountTables>().selectFrom('people').select('person_id');
        const [person] = await people.execute();
        await updatePerson(transaction, person as { person_id: string }, { disabled_at: 'x' });
      }),
    );
    const ben = environment({ EVIDENCE_BOOTSTRAP_EMAIL: 'ben@example.com' });
    expect((await serve(ben, async () => {})).bootstrapped).toBeNull();
    expect(await people()).toHaveLength(1);
  });

  test('take a key that is there', async () => {
    const { text } = createKey();
    await writeFile(join(folder, 'key'), `${text}\n`);
    expect((await serve(environment(), statusWith(text))).used).toBe(200);
  });

  test('take the key that init printed', async () => {
    await writeFile(join(folder, 'key'), apiKey);
    expect((await serve(environment(), statusWith(apiKey))).used).toBe(200);
  });

  test('make one owner where two processes start at once, and the key in the file is good', async () => {
    const both = [await openParts({ dataDir }), await openParts({ dataDir })];
    const said = await Promise.all(
      both.map((parts, index) => bootstrap(parts, environment({ EVIDENCE_BOOTSTRAP_EMAIL: `${index}@example.com` }))),
    );
    for (const { database } of both) await database.close();
    expect(said.filter((each) => each !== null)).toHaveLength(1);
    expect(await people()).toHaveLength(1);
    const key = (await readFile(join(folder, 'key'), 'utf8')).trim();
    expect((await serve({}, statusWith(key))).used).toBe(200);
  });

  test('do nothing where there are none', async () => {
    expect((await serve({}, async () => {})).bootstrapped).toBeNull();
    expect(await people()).toEqual([]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['an address that is none', { EVIDENCE_BOOTSTRAP_EMAIL: 'ada' }, 'EVIDENCE_BOOTSTRAP_EMAIL is not an e-mail'],
    ['no file with a password', { EVIDENCE_BOOTSTRAP_PASSWORD_FILE: '' }, 'EVIDENCE_BOOTSTRAP_PASSWORD_FILE is empty'],
    [
      'a file that is not there',
      { EVIDENCE_BOOTSTRAP_PASSWORD_FILE: '/nowhere/p' },
      'EVIDENCE_BOOTSTRAP_PASSWORD_FILE: /nowhere/p does not exist',
    ],
    [
      'a weak password',
      { EVIDENCE_BOOTSTRAP_EMAIL: 'a@b.c' },
      'EVIDENCE_BOOTSTRAP_PASSWORD_FILE: a password must have',
    ],
    ['a file with no key in it', {}, 'EVIDENCE_BOOTSTRAP_KEY_FILE'],
    ['a key file that cannot be made', { EVIDENCE_BOOTSTRAP_KEY_FILE: '/nowhere/k' }, 'EVIDENCE_BOOTSTRAP_KEY_FILE'],
  ])('are refused with %s, and nothing is kept', async (what, more, message) => {
    if (what === 'a weak password') await writeFile(join(folder, 'password'), 'short');
    if (what === 'a file with no key in it') await writeFile(join(folder, 'key'), 'no key');
    const before = await readdir(folder);
    await expect(serve(environment(more), async () => {})).rejects.toThrow(message);
    expect(await people()).toEqual([]);
    expect(await readdir(folder)).toEqual(before);
  });
});

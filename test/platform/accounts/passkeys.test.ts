import 'reflect-metadata';
import { KeyObject } from 'node:crypto';
import { BasicConstraintsExtension, X509CertificateGenerator } from '@peculiar/x509';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountsTidyJob } from '../../../src/platform/accounts/accounts.ts';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { type PasskeyAnswer, relyingPartyOf } from '../../../src/platform/accounts/ceremonies.ts';
import type { AccountTables } from '../../../src/platform/accounts/tables.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { NETWORK, PASSWORD, PeoplePlace, PUBLIC_URL } from './people-place.ts';
import { type Lies, packed, SoftAuthenticator } from './soft-authenticator.ts';

const MINUTE = 60_000;
const ADA = 'ada@example.com';
const BEN = 'ben@example.com';
const OWNER = byCommand('test');
const NOT_RIGHT = { code: 'not_signed_in' };

test.each([
  ['https://evidence.example', { id: 'evidence.example', origin: 'https://evidence.example' }],
  ['https://evidence.example:8443', { id: 'evidence.example', origin: 'https://evidence.example:8443' }],
  ['http://localhost:8181', { id: 'localhost', origin: 'http://localhost:8181' }],
  ['http://evidence.example', null],
  ['http://notlocalhost', null],
  ['https://192.0.2.1', null],
  ['https://[2001:db8::1]', null],
  [null, null],
])('at %s passkeys are of %j', (publicUrl, party) => {
  expect(relyingPartyOf(publicUrl)).toEqual(party);
});

describe.each(DATABASES)('passkeys on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  let database: Database;
  let open: () => Database;
  let at: PeoplePlace;
  let ada: string;
  let session: string;
  let device: SoftAuthenticator;
  beforeEach(async () => {
    ({ database, open } = await place.createMigrated());
    at = new PeoplePlace(database, Buffer.alloc(32, 1));
    ada = await at.join(ADA, 'owner');
    session = await at.signIn(ADA);
    device = new SoftAuthenticator(PUBLIC_URL);
  });

  const add = async (token = session, authenticator = device, name = 'telephone') => {
    const { passkeys } = at.accounts;
    await passkeys.add(token, name, authenticator.make(await passkeys.askToAdd(token)));
  };
  const ticketOf = async (email = ADA) => {
    const outcome = await at.accounts.signIn.firstStep({ email, password: PASSWORD, network: NETWORK });
    return 'ticket' in outcome ? outcome.ticket : '';
  };
  const optionsFor = async (ticket: string) => {
    const { options } = await at.accounts.signIn.askSecond(ticket);
    if (options === null) throw new Error('no passkey is asked for');
    return options;
  };
  const finish = (ticket: string, passkey: PasskeyAnswer) =>
    at.accounts.signIn.secondStep({ ticket, network: NETWORK, passkey });
  const signIn = async (authenticator = device, lies: Lies = {}) => {
    const ticket = await ticketOf();
    return finish(ticket, authenticator.sign(await optionsFor(ticket), lies));
  };

  test('one that was removed outside the platform does not leave its person without a second factor', async () => {
    await add();
    await database.write((transaction) => transaction.tables<AccountTables>().deleteFrom('passkeys').execute());
    await expect(at.signIn(ADA)).rejects.toMatchObject({ code: 'row_changed' });
    await expect(add()).rejects.toMatchObject({ code: 'row_changed' });
    await at.accounts.people.removeSecondFactor(OWNER, ada);
    expect(await at.signIn(ADA)).toMatch(/./);
  });

  test('one is added, asked for as second factor, and signs in', async () => {
    const other = await at.signIn(ADA);
    await add();
    const { sessions, passkeys, people } = at.accounts;
    expect(await sessions.find(other)).toBeNull();
    expect(await sessions.find(session)).toMatchObject({ secondFactors: ['passkey'] });
    expect((await people.find(ada)).second_factor).toBe(true);
    expect((await people.list({ limit: 9 })).data).toMatchObject([{ second_factor: true }]);
    await expect(at.signIn(ADA)).rejects.toMatchObject(NOT_RIGHT);
    await expect(at.signIn(ADA, { code: '000000' })).rejects.toMatchObject(NOT_RIGHT);
    at.now += MINUTE;
    const ticket = await ticketOf();
    const options = await optionsFor(ticket);
    expect(options).toMatchObject({ rpId: 'evidence.example', allowCredentials: [{ id: device.id }] });
    expect(await sessions.find(await finish(ticket, device.sign(options)))).toMatchObject({ isProved: true });
    const [passkey, ...others] = await passkeys.list(ada);
    expect(others).toEqual([]);
    const [created_at, last_used_at] = [at.now - MINUTE, at.now].map((time) => new Date(time).toISOString());
    expect(passkey).toMatchObject({ name: 'telephone', created_at, last_used_at });
    const stored = await database.tables<AccountTables>().selectFrom('passkeys').selectAll().execute();
    expect(stored).toMatchObject([{ credential_id: device.id, counter: 2, transports: '["internal"]' }]);
  });

  test('several are told apart, and an authenticator that has one makes no other', async () => {
    const key = new SoftAuthenticator(PUBLIC_URL, null);
    await add();
    at.now += 1;
    await add(session, key, 'key');
    for (const each of [device, key, key]) await signIn(each);
    const { passkeys } = at.accounts;
    const [one, other] = await passkeys.list(ada);
    expect([one?.name, other?.name]).toEqual(['telephone', 'key']);
    const { excludeCredentials } = await passkeys.askToAdd(session);
    expect(excludeCredentials?.map(({ id }) => id)).toEqual([device.id, key.id]);
    await expect(add(session, key)).rejects.toMatchObject({ code: 'conflict' });
    await at.join(BEN);
    await expect(add(await at.signIn(BEN), key)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('one proves again who is signed in, and lets them change their password', async () => {
    await add();
    const { signIn: steps, sessions, credentials } = at.accounts;
    const token = await signIn();
    at.now += 6 * MINUTE;
    const answer = async () => {
      const { options } = await steps.askAgain(token);
      return device.sign(options ?? expect.fail('no passkey is asked for'));
    };
    const given = { password: PASSWORD, passkey: await answer() };
    await expect(steps.proveAgain(token, NETWORK, { ...given, password: 'wrong' })).rejects.toMatchObject(NOT_RIGHT);
    await expect(steps.proveAgain(token, NETWORK, { password: PASSWORD })).rejects.toMatchObject(NOT_RIGHT);
    expect(await sessions.find(token)).toMatchObject({ isProved: false });
    await steps.proveAgain(token, NETWORK, given);
    expect(await sessions.find(token)).toMatchObject({ isProved: true });
    const next = 'the third door on the left';
    const change = async (passkey: PasskeyAnswer) =>
      credentials.changePassword(token, NETWORK, { password: PASSWORD, passkey, next });
    await expect(change(given.passkey)).rejects.toMatchObject(NOT_RIGHT);
    await change(await answer());
  });

  const LIES: readonly [what: string, lies: Lies][] = [
    ['of another origin', { origin: 'https://evil.example' }],
    ['of another port', { origin: `${PUBLIC_URL}:8443` }],
    ['without HTTPS', { origin: 'http://evidence.example' }],
    ['of another host name', { rpId: 'evil.example' }],
    ['of another ceremony', { type: 'webauthn.something' }],
    ['while nobody was there', { flags: 0 }],
    ['to a challenge of its own', { challenge: Buffer.alloc(60).toString('base64url') }],
    ['of an unknown credential', { id: Buffer.alloc(16).toString('base64url') }],
  ];

  test.each(LIES)('an answer %s signs nobody in', async (_what, lies) => {
    await add();
    await expect(signIn(device, lies)).rejects.toMatchObject(NOT_RIGHT);
    await signIn();
  });

  test.each(LIES.slice(0, -1))('an answer %s adds nothing', async (_what, lies) => {
    const { passkeys } = at.accounts;
    const answer = device.make(await passkeys.askToAdd(session), lies);
    await expect(passkeys.add(session, 'x', answer)).rejects.toMatchObject(NOT_RIGHT);
    expect(await passkeys.list(ada)).toEqual([]);
  });

  test('an answer with a signature by another key signs nobody in', async () => {
    await add();
    const other = new SoftAuthenticator(PUBLIC_URL);
    await expect(signIn(other, { id: device.id })).rejects.toMatchObject(NOT_RIGHT);
  });

  test('a passkey of somebody else signs nobody in, and the password of both is not enough', async () => {
    await add();
    await at.join(BEN);
    const key = new SoftAuthenticator(PUBLIC_URL);
    await add(await at.signIn(BEN), key);
    await expect(signIn(key)).rejects.toMatchObject(NOT_RIGHT);
    await expect(signIn(key, { id: device.id })).rejects.toMatchObject(NOT_RIGHT);
  });

  test('an answer is good once, also of two at once in two processes', async () => {
    await add();
    const ticket = await ticketOf();
    const answer = device.sign(await optionsFor(ticket));
    const other = new PeoplePlace(open(), Buffer.alloc(32, 1));
    const both = await Promise.allSettled(
      [at, other].map(({ accounts }) => accounts.signIn.secondStep({ ticket, network: NETWORK, passkey: answer })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(finish(ticket, answer)).rejects.toMatchObject(NOT_RIGHT);
  });

  test('an answer of an authenticator that does not count is good once, too', async () => {
    const key = new SoftAuthenticator(PUBLIC_URL, null);
    await add(session, key);
    const ticket = await ticketOf();
    const answer = key.sign(await optionsFor(ticket));
    await finish(ticket, answer);
    await expect(finish(ticket, answer)).rejects.toMatchObject(NOT_RIGHT);
    // base64url leaves unused bits, so a challenge has several spellings.
    const again = key.sign({ ...(await optionsFor(ticket)), challenge: `${challengeOf(answer)}=` });
    await expect(finish(ticket, again)).rejects.toMatchObject(NOT_RIGHT);
  });

  test('a challenge is good for what it was made for, and for five minutes', async () => {
    await add();
    const [ticket, other] = [await ticketOf(), await ticketOf()];
    const { signIn: steps, passkeys } = at.accounts;
    const token = await signIn();
    const { options: toProve } = await steps.askAgain(token);
    const toAdd = await passkeys.askToAdd(token);
    const challenges = [(await optionsFor(other)).challenge, toProve?.challenge ?? '', toAdd.challenge];
    for (const challenge of challenges) {
      const answer = device.sign({ ...(await optionsFor(ticket)), challenge });
      await expect(finish(ticket, answer)).rejects.toMatchObject(NOT_RIGHT);
      at.now += MINUTE / 2;
    }
    const late = device.sign(toProve ?? expect.fail('no passkey is asked for'));
    at.now += 5 * MINUTE;
    const proving = steps.proveAgain(token, NETWORK, { password: PASSWORD, passkey: late });
    await expect(proving).rejects.toMatchObject(NOT_RIGHT);
  });

  test('wrong answers, which cannot be guesses, pause nobody', async () => {
    await add();
    for (let time = 0; time < 10; time++)
      await expect(signIn(device, { origin: 'https://evil.example' })).rejects.toMatchObject(NOT_RIGHT);
    await signIn();
  });

  test('one that counts back may be a copy: it signs nobody in, and that is recorded', async () => {
    await add();
    await signIn();
    const [passkey] = await at.accounts.passkeys.list(ada);
    device.counter -= 1;
    await expect(signIn()).rejects.toMatchObject(NOT_RIGHT);
    expect((await at.acts()).at(-1)).toMatchObject({
      action: 'passkey.counted_back',
      resource_id: ada,
      metadata: { passkey_id: passkey?.passkey_id },
    });
    await signIn();
  });

  test('one that was removed signs nobody in, its owner is told, and nobody removes that of another', async () => {
    await add();
    const { passkeys } = at.accounts;
    const [{ passkey_id } = { passkey_id: '' }] = await passkeys.list(ada);
    const ben = await at.join(BEN);
    await expect(passkeys.remove(ben, passkey_id)).rejects.toMatchObject({ code: 'not_found' });
    const ticket = await ticketOf();
    const options = await optionsFor(ticket);
    await add(session, new SoftAuthenticator(PUBLIC_URL), 'other');
    const added = { to: ADA, subject: 'A second factor was added to your account' };
    expect(await at.post()).toMatchObject([added, added]);
    await passkeys.remove(ada, passkey_id);
    await expect(finish(ticket, device.sign(options))).rejects.toMatchObject(NOT_RIGHT);
    expect(await at.post()).toMatchObject([{ to: ADA, subject: 'A second factor was removed from your account' }]);
    expect((await at.acts()).map(({ action, metadata }) => [action, metadata?.['kind']])).toEqual(
      expect.arrayContaining([
        ['second_factor.added', 'passkey'],
        ['second_factor.removed', 'passkey'],
      ]),
    );
  });

  test('who lost all of them signs in by the password once an owner has removed them', async () => {
    const { credentials, people, passkeys } = at.accounts;
    await credentials.addAuthenticator(session, Buffer.alloc(20), at.codeOf(Buffer.alloc(20)));
    await add();
    await at.post();
    await people.removeSecondFactor(OWNER, ada);
    await at.signIn(ADA);
    expect(await passkeys.list(ada)).toEqual([]);
    await expect(people.find(ada)).resolves.toMatchObject({ second_factor: false });
    expect(await at.post()).toMatchObject([{ to: ADA }]);
  });

  test('either of authenticator and passkey is enough, and to remove one leaves the other', async () => {
    const { credentials, signIn: steps } = at.accounts;
    const secret = Buffer.alloc(20);
    await credentials.addAuthenticator(session, secret, at.codeOf(secret));
    await add();
    expect(await steps.askAgain(session)).toMatchObject({ factors: ['authenticator', 'passkey'] });
    at.now += MINUTE;
    await at.signIn(ADA, { code: at.codeOf(secret) });
    await signIn();
    await credentials.removeAuthenticator(ada);
    expect(await steps.askAgain(session)).toMatchObject({ factors: ['passkey'] });
    await expect(at.signIn(ADA)).rejects.toMatchObject(NOT_RIGHT);
    await signIn();
  });

  test('who made an authenticator is nothing to us: an attestation with certificates is refused', async () => {
    const { passkeys } = at.accounts;
    const answer = device.make(await passkeys.askToAdd(session), {}, packed(await certificate()));
    await expect(passkeys.add(session, 'x', answer)).rejects.toMatchObject(NOT_RIGHT);
    await passkeys.add(session, 'x', device.make(await passkeys.askToAdd(session), {}, packed()));
    await signIn();
  });

  test.each<[string, unknown]>([
    ['nothing', {}],
    ['null', { response: null }],
    ['numbers', { response: { clientDataJSON: 7, attestationObject: 7 } }],
    ['no base64url', { response: { clientDataJSON: '%%%', attestationObject: '%%%' } }],
  ])('an answer of %s is refused', async (_what, answer) => {
    const { passkeys } = at.accounts;
    const given = { id: 'x', ...(answer as object) };
    await expect(passkeys.add(session, 'x', given)).rejects.toMatchObject(NOT_RIGHT);
    await add();
    await expect(finish(await ticketOf(), { ...given, id: device.id })).rejects.toMatchObject(NOT_RIGHT);
  });

  test('nobody adds more than twenty', async () => {
    for (let made = 0; made < 20; made++) await add(session, new SoftAuthenticator(PUBLIC_URL), `${made}`);
    await expect(add()).rejects.toMatchObject({ code: 'conflict' });
  });

  test('what was spent is forgotten when it is too old anyhow', async () => {
    await add();
    const spent = () => database.tables<AccountTables>().selectFrom('spent_challenges').selectAll().execute();
    const job = accountsTidyJob(database, () => new Date(at.now));
    await job.run();
    expect(await spent()).toHaveLength(1);
    at.now += 6 * MINUTE;
    await job.run();
    expect(await spent()).toEqual([]);
  });
});

/** Creates a certificate of an authenticator manufacturer (WebAuthn Level 3, section 8.2.1). */
async function certificate() {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await X509CertificateGenerator.createSelfSigned({
    name: 'C=SE, O=Maker, OU=Authenticator Attestation, CN=Maker',
    keys,
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(false)],
  });
  return { der: Buffer.from(made.rawData), key: KeyObject.from(keys.privateKey) };
}

function challengeOf({ response }: PasskeyAnswer): string {
  const { clientDataJSON } = response as { clientDataJSON: string };
  return JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge;
}

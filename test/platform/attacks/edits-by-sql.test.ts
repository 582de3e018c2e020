import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join as pathOf } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword } from '../../../src/platform/accounts/password.ts';
import { newToken, tokenDigest } from '../../../src/platform/secrets.ts';
import { runPlatform } from '../command.ts';
import { type Service, startService } from '../service.ts';
import { edit, readValue } from './attack.ts';
import { Browser, inside, join, PASSWORD, signIn } from './browser.ts';

const [ADA, BEN, EVE] = ['ada@example.com', 'ben@example.com', 'eve@evil.example'];
const SPY = 'spy@evil.example';
const NOW = '2026-11-22T00:00:00.000Z';
const LATER = '2099-01-01T00:00:00.000Z';

let service: Service;
beforeAll(async () => {
  service = await startService({ signUp: 'approval' });
  await join(service, ADA, 'owner');
  await join(service, BEN, 'auditor');
});
afterAll(() => service.close());

/** Adds a letter to the outbox. */
function writeLetter(letter: object): string {
  const id = randomUUID();
  edit(
    service,
    `INSERT INTO outbox (message_id, kind, payload, created_at, status, attempts, due_at)
      VALUES ('${id}', 'mail', '${JSON.stringify(letter)}', '${NOW}', 'waiting', 0, '${NOW}')`,
  );
  return id;
}

const stateOf = (id: string) => readValue(service, `SELECT status FROM outbox WHERE message_id = '${id}'`);

async function mailsTo(email: string): Promise<string[]> {
  const folder = pathOf(service.dataDir, 'mail');
  const names = await readdir(folder).catch(() => []);
  const mails = await Promise.all(names.map((name) => readFile(pathOf(folder, name), 'utf8')));
  return mails.filter((mail) => mail.includes(`To: ${email}`));
}

const makeLink = (purpose: 'invite' | 'confirm' | 'reset' | 'set_up', content: object) =>
  inside(service, ({ database, accounts, clock }) =>
    database.write((transaction) => accounts.links.make(transaction, purpose, { ...content }, clock())),
  );
const idOf = (email: string) => readValue(service, `SELECT person_id FROM people WHERE email = '${email}'`);

describe('nobody gets the link of another by a letter that was written into the outbox', () => {
  test.each([
    ['of a new password', 'reset', 'reset', () => ({ person_id: idOf(ADA) })],
    ['of an invitation', 'invitation', 'invite', () => ({ email: 'new@example.com', role: 'owner' })],
    ['of a sign-up', 'confirmation', 'confirm', () => ({ email: 'new@example.com', role: 'auditor' })],
    ['of a new password, as that of an invitation', 'invitation', 'reset', () => ({ person_id: idOf(ADA) })],
    ['of the first account', 'invitation', 'set_up', () => ({})],
  ] as const)('%s', async (_what, letter, purpose, content) => {
    const link_id = await makeLink(purpose, content());
    const id = writeLetter({ letter, to: EVE, link_id });
    await expect.poll(() => stateOf(id), { timeout: 10_000 }).toBe('dead');
    expect(await mailsTo(EVE)).toEqual([]);
  });

  test('by the address of a letter that waits', async () => {
    const link_id = await makeLink('reset', { person_id: idOf(ADA) });
    const id = writeLetter({ letter: 'reset', to: `${ADA}, ${EVE}`, link_id });
    await expect.poll(() => stateOf(id), { timeout: 10_000 }).toBe('dead');
    expect(await mailsTo(ADA)).toEqual([]);
  });
});

const hashed = () => hashPassword(PASSWORD, { log2N: 10, r: 8, p: 1 });

/** A person who confirmed an address waits for approval. @returns the id of the sign-up. */
async function waitFor(email: string): Promise<string> {
  const link = await makeLink('confirm', { email, role: 'auditor' });
  await inside(service, ({ accounts }) =>
    accounts.joining.confirm(accounts.links.token(link), { name: 'Somebody', password: `${PASSWORD} again` }),
  );
  return readValue(service, `SELECT sign_up_id FROM sign_ups WHERE email = '${email}'`);
}

describe('nobody gets an account by a sign-up', () => {
  test.each([
    ['whose password was replaced', async (id: string) => `password = '${await hashed()}' WHERE sign_up_id = '${id}'`],
    ['whose address was replaced', async (id: string) => `email = '${EVE}' WHERE sign_up_id = '${id}'`],
    ['whose name was replaced', async (id: string) => `name = 'Boss' WHERE sign_up_id = '${id}'`],
  ])('%s', async (_what, change) => {
    const id = await waitFor(`${randomUUID()}@example.com`);
    edit(service, `UPDATE sign_ups SET ${await change(id)}`);
    const answer = await service.call('POST', `//people/sign-ups/${id}/approve`);
    expect([answer.status, answer.body.code]).toEqual([409, 'row_changed']);
    expect(readValue(service, `SELECT count(*) FROM people`)).toBe('2');
    expect((await service.call('POST', `//people/sign-ups/${id}/decline`)).status).toBe(200);
  });

  test('that was written into the database', async () => {
    const id = randomUUID();
    const row = [id, EVE, 'Somebody', await hashed(), NOW, 'f'.repeat(64)].map((each) => `'${each}'`).join(', ');
    edit(service, `INSERT INTO sign_ups (sign_up_id, email, name, password, requested_at, seal) VALUES (${row})`);
    const answer = await service.call('POST', `//people/sign-ups/${id}/approve`);
    expect([answer.status, answer.body.code]).toEqual([409, 'row_changed']);
    const { stdout } = await runPlatform(['fsck', '--data', service.dataDir]);
    expect(stdout).toContain(`people: row_seal_mismatch: sign_ups ${id}`);
    edit(service, `DELETE FROM sign_ups WHERE sign_up_id = '${id}'`);
  });
});

describe('nobody has a session', () => {
  const rowOf = (browser: Browser) =>
    readValue(service, `SELECT sha256 FROM sessions WHERE sha256 = '${tokenDigest(browser.session)}'`);
  const ADMITTED = 200;

  test.each<[string, (own: string, other: string) => string]>([
    [
      'of another person in their own row',
      (own) => `UPDATE sessions SET person_id = '${idOf(ADA)}' WHERE sha256 = '${own}'`,
    ],
    [
      'of another by the columns of their row',
      (own, other) => `UPDATE sessions SET (person_id, csrf, created_at, seen_at, seal) = (SELECT person_id, csrf,
        created_at, seen_at, seal FROM sessions WHERE sha256 = '${other}') WHERE sha256 = '${own}'`,
    ],
    [
      'that was just proved',
      (own) => `UPDATE sessions SET proved_at = '${new Date().toISOString()}' WHERE sha256 = '${own}'`,
    ],
    ['that never ends', (own) => `UPDATE sessions SET created_at = '${LATER}' WHERE sha256 = '${own}'`],
    ['with a form token of their choice', (own) => `UPDATE sessions SET csrf = 'x' WHERE sha256 = '${own}'`],
    ['without a seal', (own) => `UPDATE sessions SET seal = '' WHERE sha256 = '${own}'`],
  ])('%s', async (_what, change) => {
    const [ben, ada] = [await signIn(service, BEN), await signIn(service, ADA)];
    expect((await ben.get('/app/')).status).toBe(ADMITTED);
    edit(service, change(rowOf(ben), rowOf(ada)));
    expect((await ben.get('/app/')).status).not.toBe(ADMITTED);
    expect((await ada.get('/app/')).status).toBe(ADMITTED);
  });

  test('under a token of their choice', async () => {
    const ada = await signIn(service, ADA);
    const { text, sha256 } = newToken();
    edit(service, `UPDATE sessions SET sha256 = '${sha256}' WHERE sha256 = '${rowOf(ada)}'`);
    expect((await new Browser(service.origin, text).get('/app/')).status).not.toBe(ADMITTED);
  });
});

test('nobody gets alerts by a channel that was changed', async () => {
  const made = await service.call('POST', '//alerts/channels/', { kind: 'email', name: 'ops', target: ADA });
  const { alert_channel_id: id } = made.body;
  edit(service, `UPDATE alerting_channels SET target = '${SPY}' WHERE alert_channel_id = '${id}'`);
  const { status, body } = await service.call('POST', `//alerts/channels/${id}/test`);
  expect([status, body.state, body.error]).toEqual([202, 'failed', expect.stringContaining('outside the platform')]);
  expect(await mailsTo(SPY)).toEqual([]);
});

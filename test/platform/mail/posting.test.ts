import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';

let server: SMTPServer;
let service: Service;
/** Server's error for recipients; null to accept them. */
let refusal: Error | null = null;
const taken: string[] = [];
beforeAll(async () => {
  server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo: (_address, _session, done) => done(refusal),
    onData(stream, _session, done) {
      void text(stream).then((said) => {
        taken.push(said);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const smtp = { url: `smtp://127.0.0.1:${port}`, from: 'evidence@example.com', password: null };
  service = await startService({ mail: { smtp }, publicUrl: 'https://evidence.example' });
});
afterAll(async () => {
  await service.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

const invite = async (email: string, headers: Record<string, string> = {}) =>
  (await service.call('POST', '//people/invitations', { email, role: 'auditor' }, headers)).body;
const deadLetters = async () => (await service.call('GET', '//administration/dead-letters')).body.data;

test('an invitation is mailed once, with a link that the API does not show', async () => {
  const answers = [];
  for (const _ of 'ab') answers.push(await invite('Ada@Example.com', { 'idempotency-key': 'one' }));
  expect(answers[0]).toEqual({ link_id: expect.any(String), email: 'ada@example.com', role: 'auditor' });
  expect(answers[1]).toEqual(answers[0]);
  await expect.poll(() => taken.length).toBe(1);
  const said = taken[0]?.replace(/=\r\n/g, '') ?? '';
  expect(said).toContain('To: ada@example.com\r\n');
  expect(said).toMatch(/^Message-ID: <[0-9a-f-]{36}@evidence\.example>\r$/m);
  const token = /https:\/\/evidence\.example\/app\/invited\/([\w-]{43})\r\n/.exec(said)?.[1] ?? expect.unreachable();
  expect(await service.sql('SELECT * FROM links; SELECT * FROM outbox')).not.toContain(token);
});

test('one that the server refuses for good is given up, and mailed once somebody has it tried again', async () => {
  taken.length = 0;
  refusal = Object.assign(new Error('no such user'), { responseCode: 550 });
  await invite('ben@example.com');
  await expect.poll(async () => (await deadLetters()).length).toBe(1);
  const [letter] = await deadLetters();
  expect(letter).toMatchObject({ kind: 'mail', attempts: 1, last_error: expect.stringContaining('no such user') });
  refusal = null;
  const replay = () => service.call('POST', `//administration/dead-letters/${letter.message_id}/replay`);
  expect((await replay()).body).toEqual({ message_id: letter.message_id });
  await expect.poll(() => taken.length).toBe(1);
  expect(taken[0]).toContain(`Message-ID: <${letter.message_id}@evidence.example>`);
  expect([await deadLetters(), (await replay()).status]).toEqual([[], 404]);
  const acts = (await service.call('GET', '//administration/acts')).body.data;
  expect(acts[0]).toMatchObject({ action: 'message.replayed', resource_id: letter.message_id });
});

test('one that the server does not take now is tried again by itself', async () => {
  taken.length = 0;
  refusal = Object.assign(new Error('come back later'), { responseCode: 450 });
  await invite('cyd@example.com');
  const waiting = () => service.sql("SELECT last_error FROM outbox WHERE status = 'waiting' AND attempts > 0");
  await expect.poll(waiting).toContain('come back later');
  refusal = null;
  await expect.poll(() => taken.length).toBe(1);
  expect(await deadLetters()).toEqual([]);
});

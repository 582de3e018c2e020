import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Undeliverable } from '../../../src/platform/jobs/delivery.ts';
import { folderTransport } from '../../../src/platform/mail/folder.ts';
import { type MailTransport, mailDelivery, type OutgoingMail } from '../../../src/platform/mail/mail.ts';
import { smtpTransport } from '../../../src/platform/mail/smtp.ts';

const MAIL: OutgoingMail = {
  to: 'ada@example.com',
  subject: 'A new password',
  text: 'Somebody asked for it.\n\nhttps://evidence.example/app/reset/abc\n',
  messageId: '<0b8d8e9e-6c0c-4e5e-8f0a-4d6a2b1c3d4e@evidence.example>',
  date: new Date('2026-11-22T10:00:00Z'),
};
const FROM = 'evidence@example.com';

const close: (() => unknown)[] = [];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mail-'));
});
afterEach(async () => {
  for (const each of close.splice(0)) await each();
  await rm(folder, { recursive: true });
});

interface Taken {
  from: string;
  to: string[];
  user: string | undefined;
  secure: boolean;
  text: string;
}

/** Starts a mail server on this machine. */
async function startServer(options: SMTPServerOptions = {}) {
  const taken: Taken[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData(stream, { envelope, user, secure }, done) {
      void text(stream).then((said) => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        taken.push({ from, to, user, secure, text: said });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { taken, port };
}

function smtp(url: string, password: string | null = null) {
  const transport = smtpTransport({ url, from: FROM, password });
  close.push(() => transport.close());
  return transport;
}

/** Makes a server refuse recipients with this code. */
const refusing = (responseCode: number): SMTPServerOptions => ({
  onRcptTo: (_address, _session, done) => done(Object.assign(new Error('no'), { responseCode })),
});

describe('a mail server', () => {
  test('gets a mail as plain text, with the id that it always has, and nobody is to answer it', async () => {
    const { taken, port } = await startServer();
    await smtp(`smtp://127.0.0.1:${port}`).send(MAIL);
    expect(taken).toMatchObject([{ from: FROM, to: [MAIL.to], user: undefined }]);
    const [{ text: said } = expect.unreachable()] = taken;
    const [head = '', body = ''] = said.split('\r\n\r\n');
    expect(Object.fromEntries(head.split('\r\n').map((line) => line.split(': ')))).toMatchObject({
      From: FROM,
      To: MAIL.to,
      Subject: MAIL.subject,
      'Message-ID': MAIL.messageId,
      'Auto-Submitted': 'auto-generated',
      'Content-Type': 'text/plain; charset=utf-8',
    });
    expect(body).toBe('Somebody asked for it.');
    expect(said).toContain('https://evidence.example/app/reset/abc');
  });

  test('is told who sends it, where it asks for that', async () => {
    const { taken, port } = await startServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'p/w' ? done(null, { user: username ?? '' }) : done(new Error('no')),
    });
    await smtp(`smtp://u%40x@127.0.0.1:${port}`, 'p/w').send(MAIL);
    expect(taken).toMatchObject([{ user: 'u@x' }]);
    const wrong = smtp(`smtp://u%40x@127.0.0.1:${port}`, 'wrong').send(MAIL);
    // The settings are wrong, not the mail, so the mail stays in the outbox.
    await expect(wrong.catch((error) => error)).resolves.not.toBeInstanceOf(Undeliverable);
  });

  test.each([
    ['450, not now', refusing(450), false],
    ['550, never', refusing(550), true],
    ['552 to what it says', dataRefused(552), true],
    ['451 to what it says', dataRefused(451), false],
  ])('that says %s', async (_what, options, isFinal) => {
    const { port } = await startServer(options);
    const error = await failure(smtp(`smtp://127.0.0.1:${port}`));
    expect(error instanceof Undeliverable).toBe(isFinal);
    expect(error.message).toContain('no');
  });

  test('that is not there is tried again', async () => {
    const error = await failure(smtp('smtp://127.0.0.1:1'));
    expect(error).not.toBeInstanceOf(Undeliverable);
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('that offers no TLS gets nothing unless it is on this machine', async () => {
    const { taken, port } = await startServer();
    // The same server, by a name that does not look local.
    const { hostname } = new URL('smtp://0x7f000001');
    const error = await failure(smtp(`smtp://${hostname}:${port}`));
    expect(error.message).toMatch(/STARTTLS|TLS/);
    expect(taken).toEqual([]);
  });
});

/** Returns the reason why a mail cannot be sent. */
async function failure(transport: MailTransport): Promise<Error> {
  try {
    await transport.send(MAIL);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was sent');
}

function dataRefused(responseCode: number): SMTPServerOptions {
  return {
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => done(Object.assign(new Error('no'), { responseCode })));
    },
  };
}

describe('a folder', () => {
  test('has one whole mail, also when it was sent twice, that only its owner reads', async () => {
    const mails = join(folder, 'mails');
    const transport = folderTransport(mails, FROM);
    await transport.send(MAIL);
    await transport.send(MAIL);
    const names = await readdir(mails);
    expect(names).toEqual(['2026-11-22T10-00-00-000Z-0b8d8e9e-6c0c-4e5e-8f0a-4d6a2b1c3d4e.eml']);
    const path = join(mails, names[0] ?? '');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(mails)).mode & 0o777).toBe(0o700);
    const said = await readFile(path, 'utf8');
    expect(said).toContain(`Message-ID: ${MAIL.messageId}\r\n`);
    expect(said).toContain('Date: Sun, 22 Nov 2026 10:00:00 +0000\r\n');
    expect(said).toContain('https://evidence.example/app/reset/abc');
  });
});

test('a link in a file is one line, however long it is', async () => {
  const transport = folderTransport(folder, FROM);
  const link = `https://evidence.example/app/reset/${'a'.repeat(200)}=b`;
  await transport.send({ ...MAIL, text: `Zoë asked for it.\n\n${link}\n` });
  const [name = ''] = await readdir(folder);
  const said = await readFile(join(folder, name), 'utf8');
  expect(said.split('\r\n')).toEqual(expect.arrayContaining(['Zoë asked for it.', link]));
  expect(said).toContain('Content-Transfer-Encoding: 8bit\r\n');
});

describe('what stands in a mail', () => {
  test.each([
    ['a line end in the address', { to: 'ada@example.com\r\nBcc: eve@example.com' }],
    ['two addresses', { to: 'ada@example.com, eve@example.com' }],
    ['a name with an address', { to: 'Ada <eve@example.com>' }],
    ['a line end in the subject', { subject: 'Hello\r\nBcc: eve@example.com' }],
    ['a header in the text', { text: 'Bcc: eve@example.com\r\n.\r\nMAIL FROM:<x@y.z>\r\n' }],
    ['a line end in its id', { messageId: '<a@b>\r\nBcc: eve@example.com' }],
  ])('with %s goes to nobody else', async (_what, more) => {
    const { taken, port } = await startServer();
    const sent = await smtp(`smtp://127.0.0.1:${port}`)
      .send({ ...MAIL, ...more })
      .then(
        () => true,
        () => false,
      );
    expect(taken).toHaveLength(sent ? 1 : 0);
    for (const { to, text: said } of taken) {
      expect(to).toEqual([MAIL.to]);
      const [head = ''] = said.split('\r\n\r\n');
      expect(head).not.toMatch(/^Bcc:/im);
    }
  });
});

test('a message of the outbox is mailed under its id, and one for nobody is not', async () => {
  const sent: OutgoingMail[] = [];
  const transport = { to: 'here', send: async (mail: OutgoingMail) => void sent.push(mail), close() {} };
  const compose = async (payload: unknown) => (payload === null ? null : { to: 'a@b.c', subject: 's', text: 't' });
  const deliver = mailDelivery(transport, { compose, host: 'h.example', clock: () => MAIL.date });
  await deliver({ message_id: 'one', kind: 'mail', payload: {} });
  await deliver({ message_id: 'two', kind: 'mail', payload: null });
  expect(sent).toEqual([{ to: 'a@b.c', subject: 's', text: 't', messageId: '<one@h.example>', date: MAIL.date }]);
});

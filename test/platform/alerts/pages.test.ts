import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';
import { shown } from '../web/shown.ts';
import { type Visitor, visitorsOf } from '../web/visitor.ts';

/** A long text that reverses the text around it and closes elements. */
const HOSTILE = `</a><script>alert("1")</script>'&\u202e${'x'.repeat(120)}`;
const API = '//alerts/channels/';
const PAGE = '/app/alerts';
const FORM = `${PAGE}/new`;

let service: Service;
let operator: Visitor;
let auditor: Visitor;
beforeAll(async () => {
  service = await startService({ outgoingHosts: ['127.0.0.1:1'] });
  ({ operator, auditor } = await visitorsOf(service, ['operator', 'auditor']));
});
afterAll(() => service.close());

const hook = async (more: object = {}) => {
  const input = { kind: 'webhook', name: 'On call', target: 'http://127.0.0.1:1/secret-path', ...more };
  return (await service.call('POST', API, input)).body;
};
const add = (typed: Record<string, string>) =>
  operator.submit(FORM, FORM, { once: typed['name'] ?? '', least_severity: 'low', ...typed });
test('a webhook shows its secret once, a form that is sent twice adds one, and each is removed', async () => {
  expect(shown((await operator.get(PAGE)).text)).toContain('No alert channels.');
  const typed = { kind: 'webhook', name: HOSTILE.slice(0, 60), target: 'https://example.com/hook' };
  const { text } = await add(typed);
  const secret = /<pre id="secret"[^>]*>(whsec_[^<]+)/.exec(text)?.[1] ?? '';
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  const again = await add(typed);
  expect([again.status, again.text.includes(secret)]).toEqual([409, false]);
  const mail = { kind: 'email', name: 'Security', target: 'Security@example.com', sources: 'traps' };
  for (let count = 0; count < 2; count++) expect(shown((await add(mail)).text)).toContain('Security now gets alerts.');
  const list = (await operator.get(PAGE)).text;
  expect(list.match(/<th scope="row">/g)).toHaveLength(2);
  expect(list).not.toContain(secret);
  expect(shown(list)).toMatch(/webhook example\.com all services low .* e-mail security@example\.com Traps low/);
  const [remove = ''] = /\/app\/alerts\/[\w-]+\/remove/.exec(list) ?? [];
  expect(shown((await operator.submit(remove, remove)).text)).toContain('gets no more alerts.');
  expect((await operator.get(PAGE)).text.match(/<th scope="row">/g)).toHaveLength(1);
});

test.each([
  [{ kind: 'webhook', target: 'ftp://example.com' }, 'target', 'webhook'],
  [{ kind: 'webhook', target: 'http://169.254.169.254/latest' }, 'target', 'is an internal address'],
  [{ kind: 'webhook', target: 'http://localhost:1/' }, 'target', 'add localhost:1 to outgoing_hosts'],
  [{ kind: 'email', target: 'nobody' }, 'target', 'e-mail address'],
  [{ kind: 'pigeon', target: 'x' }, 'kind', ''],
  [{ kind: 'email', target: 'a@example.com', name: '' }, 'name', 'Enter a name.'],
  [{ kind: 'email', target: 'a@example.com', least_severity: 'none' }, 'least_severity', ''],
  [{ kind: 'email', target: 'a@example.com', sources: 'weather' }, 'sources', ''],
])('a wrong one comes again with what is wrong: %j', async (typed, field, words) => {
  const { status, text } = await add({ name: 'x', ...typed, once: 'wrong' });
  expect([status, text.includes(`id="${field}-error"`)]).toEqual([422, true]);
  expect(shown(text)).toContain(words);
});

test('a test is sent, and the list says only to which host a webhook goes', async () => {
  const { alert_channel_id: id } = await hook();
  const path = `${PAGE}/${id}/test`;
  const said = shown((await operator.submit(path, path)).text);
  expect(said).toMatch(/The test alert to On call was not delivered: 127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/);
  const mail = await hook({ kind: 'email', target: 'a@example.com', name: 'Security' });
  const { status, body } = await service.call('POST', `${API}${mail.alert_channel_id}/test`);
  expect([status, body]).toMatchObject([202, { state: 'delivered', error: null }]);
  await service.call('DELETE', `${API}${mail.alert_channel_id}`);
  const list = (await auditor.get(PAGE)).text;
  expect(list).not.toContain('secret-path');
  expect(list).toContain('href="/app/administration"');
  expect(list).not.toContain('/remove');
  await service.call('DELETE', `${API}${id}`);
});

test('acts and undelivered alerts name channels and keys, also removed ones', async () => {
  const { alert_channel_id: id } = await hook({ name: 'The pager' });
  await service.call('POST', `${API}${id}/test`);
  await service.sql(`UPDATE outbox SET status = 'dead', ended_at = created_at WHERE payload LIKE '%${id}%'`);
  await service.call('DELETE', `${API}${id}`);
  const { data } = (await service.call('GET', '//administration/dead-letters')).body;
  expect(data[0]).toMatchObject({ kind: 'alerts/test', alert_channel_id: id });
  const channel = `<a href="/app/alerts" title="${id}"><bdi>The pager</bdi></a>`;
  const key = /<a href="\/app\/keys\/[^"]+" title="[^"]+"><bdi>first key<\/bdi><\/a>/;
  for (const path of ['/app/', '/app/administration']) {
    const { text } = await operator.get(path);
    expect(text, path).toContain(channel);
    expect(text, path).toMatch(key);
    expect(shown(text), path).not.toContain(`alert_channel ${id}`);
  }
  const { text } = await operator.get('/app/administration');
  expect(text.slice(0, text.indexOf('Administrative acts'))).toContain(channel);
});

/** Every page, with its status for an operator and for an auditor. */
const ACCESS: readonly (readonly [path: string, forOperator: number, forAuditor: number])[] = [
  ['', 200, 200],
  ['/new', 200, 403],
  ['/HOOK/test', 200, 403],
  ['/HOOK/remove', 200, 403],
];

test('every page is open to whom it is for, its form does nothing for others, and hostile texts end no element', async () => {
  const { alert_channel_id: id } = await hook({ name: HOSTILE });
  const before = (await service.call('GET', API)).text;
  const csrf = /name="csrf" value="([^"]*)"/.exec((await auditor.get(PAGE)).text)?.[1] ?? '';
  for (const [path, forOperator, forAuditor] of ACCESS) {
    const url = PAGE + path.replace('HOOK', id);
    const pages = await Promise.all([operator.get(url), auditor.get(url)]);
    expect([path, ...pages.map(({ status }) => status)]).toEqual([path, forOperator, forAuditor]);
    for (const { text } of pages) {
      expect(text.match(/<script/g), path).toHaveLength(1);
      expect(text).not.toContain('\u202e');
    }
    const visitor = await fetch(service.origin + url, { redirect: 'manual' });
    expect([path, visitor.status]).toEqual([path, 303]);
    if (forAuditor === 403) expect((await auditor.post(url, { csrf })).status).toBe(403);
    const missing = PAGE + path.replace('HOOK', 'nobody');
    if (missing !== PAGE + path) expect([missing, (await operator.get(missing)).status]).toEqual([missing, 404]);
  }
  expect((await service.call('GET', API)).text).toBe(before);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAwsId } from '../../../src/platform/traps/aws/access-key.ts';
import { type Service, startService } from '../service.ts';
import { shown } from '../web/shown.ts';
import { type Visitor, visitorsOf } from '../web/visitor.ts';
import { settingsOf } from './decoy-places.ts';

/** A long text that reverses the text around it and closes elements. */
const HOSTILE = `</a><script>alert("1")</script>'&\u202e${'x'.repeat(120)}`;
const API = '//traps/api/v1';
const PAGE = '/app/traps';

let service: Service;
let owner: Visitor;
let operator: Visitor;
let auditor: Visitor;
beforeAll(async () => {
  service = await startService();
  ({ owner, operator, auditor } = await visitorsOf(service, ['owner', 'operator', 'auditor']));
});
afterAll(() => service.close());

const generate = async (more: object = {}) => {
  const input = { credential_type: 'web_bug', plant_location: 'wiki', label: 'Salaries', ...more };
  return (await service.call('POST', `${API}/credentials/generate`, input)).body;
};
const open = (url: string, agent = 'Word/16') => fetch(url, { headers: { 'user-agent': agent } });
const detectionsOf = async (id: string) =>
  (await service.call('GET', `${API}/detections/?credential_id=${id}`)).body.data;
/** Creates a trap and opens it. */
const usedTrap = async (more: object = {}, agent?: string) => {
  const trap = await generate(more);
  await open(trap.credential.url, agent);
  const [detection] = await detectionsOf(trap.credential_id);
  return { trap, detection };
};
const trapPage = (id: string, below = '') => `${PAGE}/credentials/${id}${below}`;
describe('a platform without traps', () => {
  test('says at each place what would be there, and on the front page what to do', async () => {
    const traps = shown((await owner.get(PAGE)).text);
    expect(traps).toContain('0 traps planted.');
    expect(traps).toContain('No open detections.');
    expect(shown((await owner.get(`${PAGE}/credentials`)).text)).toContain('No traps yet.');
    const front = (await owner.get('/app/')).text;
    expect(shown(front)).toMatch(/Traps – No planted traps yet What no use would be detected/);
    expect(front).toContain('<a href="/app/traps">Traps</a>');
  });
});

describe('a new trap', () => {
  const input = { credential_type: 'web_bug', plant_location: 'wiki', label: HOSTILE, expires_at: '', decoy: '' };

  test('says of each type what its use shows, and of those that cannot be made why', async () => {
    const said = shown((await operator.get(`${PAGE}/new`)).text);
    expect(said).toMatch(/Web bug A call shows .*The platform itself detects it\./);
    expect(said.slice(said.indexOf('Not available'))).toMatch(
      /SSH key A use shows .*a decoy of kind ssh, but none is configured: add one/,
    );
  });

  test('is shown once, with what is planted, its parts, its channels and what to do next', async () => {
    const sent = { ...input, once: 'one', expires_at: '2999-01-01T00:00' };
    const made = await operator.submit(`${PAGE}/new`, `${PAGE}/new`, sent);
    expect(made.status).toBe(200);
    const url = /<dt>url<\/dt><dd><code><bdi>([^<]*)/.exec(made.text)?.[1] ?? '';
    expect(url).toMatch(/\/traps\/t\/[\w-]+\.gif$/);
    const file = /<pre id="artifact"[^>]*>([^<]*)/.exec(made.text)?.[1];
    expect(file).toBe(`&lt;img src=&quot;${url}&quot; alt=&quot;&quot; width=&quot;1&quot; height=&quot;1&quot;&gt;\n`);
    expect(shown(made.text)).toContain('HTTP ! not proved The platform itself receives the call. never');
    expect(shown(made.text)).toMatch(/Confirm that it is planted: .* Test it: /);
    const again = await operator.submit(`${PAGE}/new`, `${PAGE}/new`, sent);
    expect([again.status, again.text.includes(url)]).toEqual([409, false]);
    expect(shown(again.text)).toContain('cannot be shown again');
    const list = (await owner.get(`${PAGE}/credentials`)).text;
    expect(list).not.toContain(url);
    expect(list.match(/<th scope="row">/g)).toHaveLength(1);
  });

  test.each([
    [{ label: '' }, 'label', 'Enter a label.'],
    [{ label: 'x'.repeat(201) }, 'label', ''],
    [{ credential_type: 'nothing' }, 'credential_type', ''],
    [{ credential_type: 'ssh_key' }, 'credential_type', 'a decoy of kind ssh, and none is configured'],
    [{ plant_location: 'mars' }, 'plant_location', ''],
    [{ expires_at: 'soon' }, 'expires_at', ''],
    [{ decoy: 'nowhere' }, '', 'no decoy named "nowhere" is configured'],
  ])('that cannot be made comes again with what is wrong: %j', async (wrong, field, words) => {
    const before = (await service.call('GET', `${API}/credentials/`)).text;
    const sent = { ...input, label: 'kept', once: 'two', ...wrong };
    const { status, text } = await operator.submit(`${PAGE}/new`, `${PAGE}/new`, sent);
    expect(status).toBe(words.includes('is configured') && field !== '' ? 409 : 422);
    expect(text).toContain('role="alert"');
    if (field !== '') expect(text).toContain(`id="${field}-error"`);
    expect(shown(text)).toContain(words);
    if (field !== 'label') expect(text).toContain('value="kept"');
    expect((await service.call('GET', `${API}/credentials/`)).text).toBe(before);
  });
});

describe('what a type may be told', () => {
  const KEY = newAwsId('AKIA', '111122223333');
  let withDecoys: Service;
  let visitor: Visitor;
  beforeAll(async () => {
    withDecoys = await startService({ decoys: [settingsOf({ kind: 'ssh' }), settingsOf({ kind: 'aws' })] });
    ({ operator: visitor } = await visitorsOf(withDecoys, ['operator']));
  });
  afterAll(() => withDecoys.close());
  const send = (page: string, sent: Record<string, string>) =>
    visitor.submit(`${PAGE}/${page}`, `${PAGE}/${page}`, { plant_location: 'ci', label: 'x', expires_at: '', ...sent });

  test('is told by the form, each type by its own fields', async () => {
    const others = { 'ssh_key.algorithm': 'rsa', 'aws_key.account_id': '12', 'aws_key.region': '' };
    const made = await send('new', { once: 'o1', credential_type: 'ssh_key', ...others });
    expect([made.status, made.text.includes('id_rsa')]).toEqual([200, true]);
    const wrong = await send('new', { once: 'o2', credential_type: 'aws_key', ...others });
    expect([wrong.status, wrong.text.includes('value="12"')]).toEqual([422, true]);
    expect(shown(wrong.text)).toContain('must have twelve digits');
    const right = { ...others, 'aws_key.account_id': '210987654321', 'aws_key.region': 'eu-west-1' };
    const key = await send('new', { once: 'o3', credential_type: 'aws_key', ...right });
    expect(shown(key.text)).toMatch(/region = eu-west-1 .* account_id 210987654321/);
  });

  test('a key of AWS is imported once, and its secret is not shown in a form', async () => {
    const secret = 's'.repeat(40);
    const typed = { access_key_id: KEY, secret_access_key: secret, user_name: 'backup', region: '', decoy: '' };
    const wrong = await send('import', { once: 'i1', ...typed, access_key_id: 'ASIA' });
    expect([wrong.status, wrong.text.includes('id="access_key_id-error"'), wrong.text.includes(secret)]).toEqual([
      ...[422, true, false],
    ]);
    const past = await send('import', { once: 'i2', ...typed, expires_at: '2020-01-01T00:00' });
    expect([past.status, shown(past.text).includes('Expires_at is in the past')]).toEqual([422, true]);
    const made = await send('import', { once: 'i3', ...typed });
    expect(shown(made.text)).toMatch(new RegExp(`aws_access_key_id = ${KEY} aws_secret_access_key = ${secret}`));
    const again = await send('import', { once: 'i4', ...typed });
    expect([again.status, shown(again.text).includes(`${KEY} is already a trap`)]).toEqual([409, true]);
    const decoyed = { once: 'i5', ...typed, access_key_id: newAwsId('AKIA', '111122223333'), decoy: 'aws' };
    expect((await send('import', decoyed)).text).toContain('endpoint_url');
  });
});

describe('a trap', () => {
  test('is confirmed, tested and seen as proved; the front page follows', async () => {
    const { credential_id: id } = await generate({ label: 'the salary page' });
    const confirm = trapPage(id, '/confirm');
    const early = await operator.submit(confirm, confirm, { planted_at: '2999-01-01T00:00' });
    expect([early.status, early.text.includes('id="planted_at-error"')]).toEqual([422, true]);
    const confirmed = await operator.submit(confirm, confirm, { planted_at: '2026-01-01T00:00' });
    expect(confirmed.path).toBe(trapPage(id));
    expect(shown(confirmed.text)).toContain('the salary page is planted.');
    expect(shown(confirmed.text)).toContain('! failed Not proved in the last 30 days: http. Test the trap.');
    expect(shown((await owner.get('/app/')).text)).toMatch(/Traps ! Not proved What 1 trap with channels/);
    const tested = await operator.submit(trapPage(id, '/test'), trapPage(id, '/test'));
    expect(shown(tested.text)).toMatch(/All channels detected it .* HTTP ✓ proved The marked use was detected\./);
    expect(await detectionsOf(id)).toEqual([]);
    const after = shown((await owner.get(trapPage(id))).text);
    expect(after).toContain('HTTP ✓ proved The platform itself receives the call. THEN');
    expect(after).toContain('Proved channels ✓ passed');
    expect(shown((await owner.get('/app/')).text)).toMatch(/Traps ✓ No open detections What 1 trap planted/);
  });

  test('is rotated, and the old one stays', async () => {
    const { credential_id: id } = await generate({ label: 'rotated' });
    const made = await operator.submit(trapPage(id, '/rotate'), trapPage(id, '/rotate'), { once: 'r' });
    const [, fresh = ''] = /href="\/app\/traps\/credentials\/([\w-]+)\/confirm"/.exec(made.text) ?? [];
    const page = await owner.get(trapPage(fresh));
    expect(page.text).toContain(`href="${trapPage(id)}"><bdi>${id}`);
    const old = (await owner.get(trapPage(id))).text;
    expect(shown(old)).toContain('Status – rotated');
    expect(old).not.toContain('/rotate"');
    const again = await operator.submit(trapPage(id, '/rotate'), trapPage(id, '/rotate'), { once: 's' });
    expect([again.status, shown(again.text).includes('is already rotated')]).toEqual([409, true]);
  });

  test('stands as before after it was reset, and ends when it is revoked', async () => {
    const { trap } = await usedTrap({ label: 'opened' });
    const id = trap.credential_id;
    expect(shown((await owner.get(trapPage(id))).text)).toContain('Status ✗ used');
    const reset = await operator.submit(trapPage(id, '/reset'), trapPage(id, '/reset'));
    expect(shown(reset.text)).toContain('opened was reset. Status – not planted yet');
    const revoked = await operator.submit(trapPage(id, '/revoke'), trapPage(id, '/revoke'));
    expect(shown(revoked.text)).toContain('opened is revoked. Status – revoked');
  });

  test('says how well it hides: by its label, its host, and others of the same host', async () => {
    const { credential_id: id } = await generate({ label: 'my Canary page' });
    const { body } = await service.call('GET', `${API}/credentials/${id}/realism`);
    const failed = body.data.filter(({ result }: { result: string }) => result === 'failed');
    expect(failed.map(({ check }: { check: string }) => check)).toEqual([
      ...['plain_label', 'own_host', 'unspent_decoy', 'planted', 'proved'],
    ]);
    const said = shown((await auditor.get(trapPage(id))).text);
    for (const { reason, next_step } of body.data) {
      expect(said).toContain(reason);
      if (next_step !== null) expect(said).toContain(next_step);
    }
  });
});

describe('a detection', () => {
  test('says who, how, how far and since when it can have got out, and where it is recorded', async () => {
    const { trap, detection } = await usedTrap({ label: 'the plan' });
    const { text } = await auditor.get(`${PAGE}/detections/${detection.detection_id}`);
    const said = shown(text);
    expect(said).toContain('Somebody opened the trap, and did nothing else. 1 use so far.');
    expect(said).toMatch(/Depth opened .* From 127\.0\.0\.1 Client Word\/16 Action GET \/traps\/t\//);
    expect(said).toContain('Secret known unknown');
    expect(text).toContain(`<time datetime="${trap.created_at}">`);
    const entry = /href="(\/app\/audit\/streams\/traps\/entries\/\d+)"/.exec(text)?.[1] ?? '';
    expect(shown((await auditor.get(entry)).text)).toContain(detection.entry.hash);
    expect(text).not.toContain('Acknowledge');
  });

  test('is acknowledged, put away and opened again, each on the page and in the lists', async () => {
    const { detection } = await usedTrap({ label: 'passed around' });
    const page = `${PAGE}/detections/${detection.detection_id}`;
    const say = (status: string) => operator.submit(page, `${page}/status`, { status });
    const isIn = async (query: string) => (await owner.get(`${PAGE}${query}`)).text.includes('passed around');
    for (const [status, words] of [
      ['acknowledged', 'acknowledged'],
      ['archived', 'archived'],
      ['open', 'open'],
    ] as const) {
      const answer = await say(status);
      expect([answer.path, shown(answer.text).includes(`The detection is now ${words}.`)]).toEqual([page, true]);
      const lists = ['?status=open', '?status=acknowledged', '?status=archived'];
      const found = await Promise.all(lists.map(isIn));
      expect(lists.filter((_, at) => found[at])).toEqual([`?status=${status}`]);
      expect(await isIn('')).toBe(status !== 'archived');
    }
    expect((await say('gone')).status).toBe(422);
  });

  test('of many uses shows the first and the last, and how many lie between', async () => {
    const trap = await generate({ label: 'read often' });
    for (let count = 0; count < 23; count++) await open(trap.credential.url);
    const [detection] = await detectionsOf(trap.credential_id);
    const { text } = await owner.get(`${PAGE}/detections/${detection.detection_id}`);
    const numbers = [...text.matchAll(/<th scope="row">(\d+)/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual([...Array.from({ length: 10 }, (_, at) => at + 1), ...numbers.slice(10)]);
    expect(numbers.slice(10)).toEqual(Array.from({ length: 10 }, (_, at) => at + 14));
    expect(shown(text)).toContain('3 uses between them are not shown here.');
  });

  test('stands on the front page as long as it is open', async () => {
    const { detection } = await usedTrap({ label: 'in front' });
    const front = await auditor.get('/app/');
    expect(shown(front.text)).toMatch(/Traps ✗ Traps were used What \d+ open detections?, at worst medium/);
    expect(front.text).toContain(`href="${PAGE}/detections/${detection.detection_id}"`);
  });
});

test('who asks whether anything is new is sent nothing as long as nothing is', async () => {
  const headers = { cookie: `evidence_session=${owner.session}` };
  const { text } = await owner.get(PAGE);
  const mark = /data-live="([^"]*)"/.exec(text)?.[1] ?? '';
  expect(text).toContain('Reload the page to see changes.');
  const ask = (known: string) =>
    fetch(service.origin + PAGE, { headers: { ...headers, 'if-none-match': `"${known}"` } });
  // The page changes each minute.
  const now = await ask(mark);
  expect([200, 304]).toContain(now.status);
  const etag = (now.headers.get('etag') ?? '').slice(1, -1);
  expect((await ask(etag)).status).toBe(304);
  await usedTrap({ label: 'news' });
  const news = await ask(etag);
  expect([news.status, (await news.text()).includes('news')]).toEqual([200, true]);
});

/** Every page, with its status for an operator and for an auditor. */
const ACCESS: readonly (readonly [path: string, forOperator: number, forAuditor: number])[] = [
  ['', 200, 200],
  ['/credentials', 200, 200],
  ['/credentials/TRAP', 200, 200],
  ['/detections/DETECTION', 200, 200],
  ['/new', 200, 403],
  ['/import', 200, 403],
  ['/credentials/TRAP/confirm', 200, 403],
  ['/credentials/TRAP/test', 200, 403],
  ['/credentials/TRAP/rotate', 200, 403],
  ['/credentials/TRAP/revoke', 200, 403],
  ['/credentials/TRAP/reset', 200, 403],
  ['/detections/DETECTION/status', 200, 403],
];

test('every page is open to whom it is for, its form does nothing for others, and hostile texts end no element', async () => {
  const { trap, detection } = await usedTrap({ label: HOSTILE }, HOSTILE.replace('\u202e', ''));
  const ids = { TRAP: trap.credential_id, DETECTION: detection.detection_id };
  const before = (await service.call('GET', `${API}/credentials/${ids.TRAP}`)).text;
  const csrf = /name="csrf" value="([^"]*)"/.exec((await auditor.get(PAGE)).text)?.[1] ?? '';
  for (const [path, forOperator, forAuditor] of ACCESS) {
    const url = PAGE + Object.entries(ids).reduce((whole, [name, id]) => whole.replace(name, id), path);
    const pages = await Promise.all([operator.get(url), auditor.get(url)]);
    expect([path, ...pages.map(({ status }) => status)]).toEqual([path, forOperator, forAuditor]);
    for (const { text } of pages) {
      expect(text.match(/<script/g), path).toHaveLength(1);
      expect(text).not.toContain('\u202e');
    }
    const visitor = await fetch(service.origin + url, { redirect: 'manual' });
    expect([path, visitor.status]).toEqual([path, 303]);
    if (forAuditor === 403) expect((await auditor.post(url, { csrf, status: 'archived' })).status).toBe(403);
    const missing = PAGE + path.replace(/TRAP|DETECTION/, 'nobody');
    if (missing !== PAGE + path) expect([missing, (await operator.get(missing)).status]).toEqual([missing, 404]);
  }
  expect((await service.call('GET', `${API}/credentials/${ids.TRAP}`)).text).toBe(before);
});

test.each(['?cursor=x', '?status=gone', '?other=1', '/credentials?cursor=x', '/credentials?credential_type=x'])(
  '%s is refused on a page',
  async (wrong) => {
    const { status, text } = await owner.get(PAGE + wrong);
    expect([status, text]).toEqual([422, expect.stringContaining('<h1>')]);
  },
);

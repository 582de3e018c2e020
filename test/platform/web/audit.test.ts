import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WireEntry } from '../../../src/platform/audit/wire.ts';
import { entry, type Service, startService } from '../service.ts';
import { shown } from './shown.ts';
import { type Visitor, visitorsOf } from './visitor.ts';

/** A long text that reverses the text around it and closes elements. */
const HOSTILE = `</a><script>alert("1")</script>'&\u202e${'x'.repeat(900)}`;

let service: Service;
let owner: Visitor;
let operator: Visitor;
let auditor: Visitor;
const record = (stream: string, count: number, from = 0) =>
  service.call('POST', '/entries/batch', {
    entries: Array.from({ length: count }, (_, at) => ({ ...entry(stream, from + at), actor: `actor-${at % 3}` })),
  });

beforeAll(async () => {
  service = await startService();
  ({ owner, operator, auditor } = await visitorsOf(service, ['owner', 'operator', 'auditor']));
});
afterAll(() => service.close());

const path = (stream: string, below = '') => `/app/audit/streams/${encodeURIComponent(stream)}${below}`;
describe('a platform on which nothing is recorded', () => {
  test('shows the call that records the first entry, and says that nothing was checked', async () => {
    const { status, text } = await owner.get('/app/audit');
    expect(status).toBe(200);
    expect(shown(text)).toContain('No entries yet.');
    expect(text).toContain(`curl -X POST ${service.url}/entries/`);
    const front = shown((await owner.get('/app/')).text);
    expect(front).toContain('– Not verified yet');
    expect(front).toContain('Last check of a stream never');
    expect(front).toContain('No agents are registered yet');
    expect(front).toContain('Person joined: The auditor, by The auditor');
  });
});

describe('a stream', () => {
  beforeAll(async () => {
    await record('payments', 30);
  });

  test('that was never checked is not called verified', async () => {
    const said = shown((await owner.get(path('payments'))).text);
    expect(said).toContain('– No check on record No valid record of a check.');
    expect(said).not.toContain('Verified');
  });

  test('is verified by a button, and then it says when, up to where, and how many entries came since', async () => {
    const checked = await auditor.submit(path('payments'), path('payments', '/verify'));
    expect(checked.path).toMatch(/^\/app\/audit\/verifications\//);
    expect(shown(checked.text)).toContain('No findings');
    expect(shown(checked.text)).toContain('Read 30 entries: entries 1 to 30');
    expect(shown(checked.text)).toContain('This result does not cover later entries');
    expect(shown((await owner.get(path('payments'))).text)).toContain(
      'Verified on THEN up to entry 30; no entry since.',
    );
    await record('payments', 12, 30);
    expect(shown((await owner.get(path('payments'))).text)).toContain(
      'Verified on THEN up to entry 30; 12 entries since.',
    );
    expect(shown((await owner.get('/app/audit')).text)).toContain('✓ Verified THEN up to entry 30; 12 entries since');
    expect(shown((await owner.get(path('payments', '/verifications'))).text)).toContain('entries 1 to 30');
  });

  test('gets a checkpoint, whose authority is called what it is', async () => {
    const { text, path: at } = await operator.submit(path('payments'), path('payments', '/checkpoints'));
    expect(at).toBe(path('payments'));
    expect(shown(text)).toContain(
      'Created a checkpoint at entry 42, stamped by the development authority, which is not an independent witness.',
    );
    const list = shown((await auditor.get(path('payments', '/checkpoints'))).text);
    expect(list).toContain('– Development THEN');
    expect(list).toContain('It is not an independent witness');
    const again = await operator.submit(path('payments'), path('payments', '/checkpoints'));
    expect(shown(again.text)).toContain('There is already a checkpoint at entry 42');
  });

  test('has its entries newest first, page by page, each of them once', async () => {
    const numbers = [];
    let next: string | undefined = path('payments', '/entries');
    while (next !== undefined) {
      const { text } = await auditor.get(next);
      numbers.push(...numbersIn(text));
      next = /<a href="([^"]*)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(numbers).toEqual(Array.from({ length: 42 }, (_, at) => 42 - at));
  });

  test.each([
    ['actor=actor-1&order=oldest', (each: WireEntry) => each.actor === 'actor-1'],
    ['actor=&action=&resource_id=r-3', (each: WireEntry) => each.resource_id === 'r-3'],
    ['action=nothing', () => false],
    ['from=2001-01-01T00:00&to=2002-01-01T00:00:30', () => false],
    ['actor=actor-2&order=oldest&from=2001-01-01T00:00:00.000Z', (each: WireEntry) => each.actor === 'actor-2'],
  ])('shows the entries that match %s', async (query, matches) => {
    const { data } = (await service.call('GET', '/entries/?stream_id=payments&limit=100')).body;
    const expected = data.filter(matches).map(({ sequence }: WireEntry) => sequence);
    const { status, text } = await auditor.get(path('payments', `/entries?${query}`));
    expect([status, numbersIn(text)]).toEqual([200, expected]);
  });

  test('goes on with what matches', async () => {
    await record('many', 90);
    const { text } = await auditor.get(path('many', '/entries?actor=actor-0'));
    const next = /<a href="([^"]*)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const numbers = [...numbersIn(text), ...numbersIn((await auditor.get(next)).text)];
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, at) => 88 - 3 * at));
  });

  test('shows one entry as it is recorded', async () => {
    const { body } = await service.call('GET', '/entries/?stream_id=payments&after_sequence=4&limit=1');
    const { text } = await auditor.get(path('payments', '/entries/5'));
    const json = /<pre id="json"[^>]*>([^<]*)<\/pre>/.exec(text)?.[1] ?? '';
    expect(JSON.parse(json.replaceAll('&quot;', '"'))).toEqual(body.data[0]);
  });

  test('leads to a package: generated by a form, with its downloads, and with what it does not prove', async () => {
    const form = path('payments', '/packages/new');
    const made = await operator.submit(form, form, { title: 'For the <auditor>', from: '', to: '' });
    expect(made.path).toMatch(/^\/app\/audit\/packages\//);
    expect(shown(made.text)).toContain('For the &lt;auditor&gt;');
    expect(shown(made.text)).toContain('42 entries: entries 1 to 42');
    expect(shown(made.text)).toContain('Entries of this package after 30 were not checked.');
    const [json, summary, pdf] = await Promise.all(
      ['json', 'summary', 'pdf'].map((each) => auditor.get(`${made.path}/${each}`)),
    );
    expect(JSON.parse(json?.text ?? '').entries).toHaveLength(42);
    expect(JSON.parse(summary?.text ?? '')).toMatchObject({ entry_count: 42 });
    expect(pdf?.text.slice(0, 5)).toBe('%PDF-');
    expect(shown((await auditor.get(path('payments', '/packages'))).text)).toContain('THEN 42');
  });

  test('makes no package of a period that ends before it begins, and says so beside the field', async () => {
    const form = path('payments', '/packages/new');
    const wrong = { title: 'mine', from: '2026-02-01T00:00', to: '2026-01-01T00:00' };
    const { status, text } = await operator.submit(form, form, wrong);
    expect(status).toBe(422);
    expect(text).toContain('value="mine"');
    expect(shown(text)).toContain('✗ Must be after the start.');
    const none = await operator.submit(form, form, { title: '', from: '2001-01-01T00:00', to: '2001-01-02T00:00:30' });
    expect(shown(none.text)).toContain('Period from 2001-01-01 00:00:00 UTC to 2001-01-02 00:00:30 UTC');
    expect(shown(none.text)).toContain('Contents 0 entries');
  });
});

function numbersIn(html: string): number[] {
  return [...html.matchAll(/<th scope="row"><a href="[^"]*\/entries\/(\d+)"/g)].map(([, number]) => Number(number));
}

test('the dashboard names what a check found, where it goes on, and since when it is known', async () => {
  await record('damaged', 9);
  await service.sql(
    "DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE sequence = 4 AND stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'damaged')",
  );
  const check = await auditor.submit(path('damaged'), path('damaged', '/verify'));
  expect(shown(check.text)).toContain('Findings');
  expect(shown(check.text)).toMatch(/1 finding .*hash_mismatch \w{64} \w{64} 4 /);
  expect(shown((await owner.get(path('damaged'))).text)).toContain('The check on THEN found a failure after entry 3.');
  const { text } = await auditor.get('/app/');
  expect(shown(text)).toMatch(/✗ Problems found What 1 stream failed at the last check.* Since found on THEN/);
  expect(text).toContain(`href="${check.path}">See the findings</a>`);
  expect(shown(text)).toContain('Verify found that damaged was changed. See the findings');
  const list = shown((await owner.get('/app/audit?verification_status=failed')).text);
  expect(list).toContain('damaged ✗ Failed THEN wrong after entry 3');
  expect(list).not.toContain('payments');
});

test('statistics are drawn on the server, and can be read as numbers', async () => {
  const { text } = await auditor.get('/app/audit/statistics');
  const today = new Date().toISOString().slice(0, 10);
  expect(text.match(/<svg/g)?.length).toBeGreaterThan(3);
  expect(shown(text)).toMatch(new RegExp(`${today} [\\d,]+`));
  expect(shown(text)).toMatch(/failed at their last check 1 /);
});

describe('who may what', () => {
  test('an auditor sees Verify and nothing that writes', async () => {
    const { text } = await auditor.get(path('payments'));
    const actions = [...text.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, each]) => each);
    expect(actions).toEqual(['/app/sign-out', path('payments', '/verify')]);
    expect(text).not.toContain('Generate a package');
    const owners = (await owner.get(path('payments'))).text;
    expect(owners).toContain(path('payments', '/checkpoints'));
    expect(owners).toContain('Generate a package');
  });

  test('an auditor who sends the forms all the same is refused, and nothing is done', async () => {
    const before = await service.call('GET', '/streams/payments/packages');
    const { text } = await auditor.get(path('payments'));
    const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
    for (const below of ['/checkpoints', '/packages/new'])
      expect((await auditor.post(path('payments', below), { csrf, title: '', from: '', to: '' })).status).toBe(403);
    expect((await auditor.get(path('payments', '/packages/new'))).status).toBe(403);
    expect((await service.call('GET', '/streams/payments/packages')).body).toEqual(before.body);
  });

  test('Verify without the token of the session does nothing', async () => {
    const before = (await service.call('GET', '/streams/payments/verifications')).body.data.length;
    expect((await auditor.post(path('payments', '/verify'), {})).status).toBe(403);
    expect((await service.call('GET', '/streams/payments/verifications')).body.data).toHaveLength(before);
  });

  test('the cookie of a session opens nothing of the API, and an API key no page', async () => {
    const cookie = `evidence_session=${owner.session}`;
    expect((await fetch(`${service.url}/streams/`, { headers: { cookie } })).status).toBe(401);
    const page = await fetch(`${service.origin}/app/audit`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
      redirect: 'manual',
    });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/app/sign-in?then=%2Fapp%2Faudit']);
  });
});

describe('names from outside', () => {
  test('end no element and hide nothing, wherever they stand', async () => {
    const hostile = { actor: HOSTILE, action: HOSTILE, resource_type: HOSTILE, resource_id: HOSTILE };
    const metadata = { [HOSTILE]: HOSTILE };
    await service.call('POST', '/entries/', { ...hostile, stream_id: HOSTILE, metadata });
    await service.call('POST', `/streams/${encodeURIComponent(HOSTILE)}/checkpoints`);
    const pages = ['', '/entries', '/entries/1', '/checkpoints', '/verifications', '/packages', '/packages/new'];
    const all = [...pages.map((below) => path(HOSTILE, below)), '/app/audit', '/app/', '/app/audit/statistics'];
    const checked = await owner.submit(path(HOSTILE), path(HOSTILE, '/verify'));
    for (const page of [...all, checked.path]) {
      const { status, text } = await owner.get(page);
      expect([page, status]).toEqual([page, 200]);
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text).not.toContain('\u202e');
    }
    expect(shown((await owner.get(path(HOSTILE))).text)).toContain('‹U+202E›');
  });
});

test.each([
  '/app/audit/streams/nobody',
  '/app/audit/streams/nobody/entries',
  '/app/audit/streams/payments/entries/999999',
  '/app/audit/streams/nobody/packages/new',
  '/app/audit/verifications/nothing',
  '/app/audit/packages/nothing',
  '/app/audit/packages/nothing/json',
])('%s is not there, and says so on a page', async (wrong) => {
  const { status, text } = await owner.get(wrong);
  expect([status, text]).toEqual([404, expect.stringContaining('Not found')]);
});

test.each([
  '/app/audit/streams/payments/entries?from=yesterday',
  '/app/audit/streams/payments/entries?cursor=x&actor=a',
  '/app/audit/streams/payments/entries?before=0',
  '/app/audit/streams/payments/entries/0',
  '/app/audit?cursor=x',
])('%s is refused on a page', async (wrong) => {
  const { status, text } = await owner.get(wrong);
  expect([status, text]).toEqual([422, expect.stringContaining('<h1>')]);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openParts } from '../../../../src/platform/parts.ts';
import { type Service, startService } from '../../service.ts';
import { shown } from '../../web/shown.ts';
import { type Visitor, visitorsOf } from '../../web/visitor.ts';
import { ENDPOINTS, enrol, type HttpSensor } from '../http-sensor.ts';
import { makeKnown } from '../packages/known-rows.ts';
import { file } from '../sensor-double.ts';
import { AFTER, BEFORE, eventsOf, HOSTILE, NOT_UTF8, propose, reported, SUDO, TOOL, watched } from './scene.ts';

const PAGE = '/app/endpoints';
const HOSTILE_SHOWN = `/usr/bin/&lt;/a&gt;&lt;script&gt;alert("1")&lt;/script&gt;'&amp;‹U+202E›‹U+001B›[2J‹U+000A›x`;

let service: Service;
let owner: Visitor;
let operator: Visitor;
let auditor: Visitor;
beforeAll(async () => {
  service = await startService();
  ({ owner, operator, auditor } = await visitorsOf(service, ['owner', 'operator', 'auditor']));
});
afterAll(() => service.close());

const prove = (visitor: Visitor) => visitor.submit('/app/prove', '/app/prove', { password: 'a long walk by the sea' });
const hostPage = ({ id }: Pick<HttpSensor, 'id'>, below = '') => `${PAGE}/hosts/${id}${below}`;
const see = async (path: string, visitor = owner) => shown((await visitor.get(path)).text);
const act = (path: string, typed: Record<string, string> = {}, visitor = operator) => visitor.submit(path, path, typed);
const tile = async () => (await see('/app/')).replace(/.*Endpoint integrity (.*) Agent identity.*/s, '$1');
const changeOf = async (path: string) =>
  (await service.call('GET', `${ENDPOINTS}/changes/`)).body.data.find((each: { path: string }) => each.path === path);
const idAt = (path: string) => path.split('/').at(-1) ?? '';

describe('a platform without endpoints', () => {
  test.each([
    ['', 'No endpoints are enrolled yet.', '/endpoints/enroll'],
    ['/events', 'No events are open.', '/endpoints/events/'],
    ['/changes', 'No endpoint differs from its baseline.', '/endpoints/changes/'],
    ['/packages', 'No archives are imported yet, so no upgrades are explained.', '/endpoints/packages/'],
    ['/change-windows', 'No change windows yet.', '/endpoints/change-windows/'],
    ['/baselines', 'No baselines yet, so scans are not compared.', '/endpoints/hosts/ENDPOINT_ID/baselines'],
  ])('says at %s what would be there, and has the command to copy', async (path, words, api) => {
    const { text } = await owner.get(PAGE + path);
    expect(shown(text)).toContain(words);
    expect(text).toContain(service.origin + api);
  });

  test('says on the front page what to do', async () => {
    expect(await tile()).toMatch(
      /^– No endpoints are enrolled yet What nothing is scanned Since no known problems Last endpoint report never Enroll one$/,
    );
  });
});

describe('enrolment', () => {
  const input = { once: 'one', name: 'web <1>', scan_interval_seconds: '3600', roots: '', other_filesystems: '' };

  test('asks again who it is, and shows the token once, with what to do with it', async () => {
    expect((await operator.get(`${PAGE}/enroll`)).path).toBe('/app/prove');
    await prove(operator);
    const made = await act(`${PAGE}/enroll`, input);
    const token = /<pre id="token"[^>]*>(sk_\w+)</.exec(made.text)?.[1] ?? '';
    expect(shown(made.text)).toContain('Enrollment registers no baseline');
    expect(shown(made.text)).toContain(
      `sudo node /usr/local/lib/evidence-sensor.mjs --url ${service.origin}/endpoints --endpoint-token-file /etc/evidence/endpoint-token`,
    );
    expect(made.text).toContain(`EVIDENCE_ENDPOINT_URL=${service.origin}/endpoints|`);
    const settings = await service.call('GET', `${ENDPOINTS}/sensor/settings`, undefined, {
      authorization: `Bearer ${token}`,
    });
    expect(settings.body.name).toBe('web <1>');
    const again = await act(`${PAGE}/enroll`, input);
    expect([again.status, again.text.includes(token)]).toEqual([409, false]);
    const page = await operator.get(`${PAGE}/hosts/${settings.body.endpoint_id}`);
    expect(page.text).not.toContain(token);
    expect(shown(page.text)).toContain('Nothing was reported yet. Where this platform is installed, write the sensor');
    expect(await see(PAGE)).toContain('web &lt;1&gt; – never reported ! no baseline not compared none never 0');
    expect(await tile()).toMatch(/^! Some endpoints are not compared What 1 endpoint never reported /);
  });

  test.each([
    [{ name: ' ' }, 'name', 'Enter a name.'],
    [{ name: 'x'.repeat(201) }, 'name', ''],
    [{ roots: 'usr/bin' }, 'roots', 'Does not start with /.'],
    [{ other_filesystems: '/srv\nsrv' }, 'other_filesystems', 'Does not start with /.'],
    [{ scan_interval_seconds: '1' }, 'scan_interval_seconds', ''],
  ])('that is wrong comes again with what is wrong: %j', async (wrong, field, words) => {
    const before = (await service.call('GET', `${ENDPOINTS}/hosts/`)).text;
    const { status, text } = await act(`${PAGE}/enroll`, { ...input, name: 'kept', once: 'two', ...wrong });
    expect([status, text.includes(`id="${field}-error"`)]).toEqual([422, true]);
    expect(shown(text)).toContain(words);
    expect((await service.call('GET', `${ENDPOINTS}/hosts/`)).text).toBe(before);
  });
});

describe('a baseline', () => {
  test('is proposed by one person, read as a difference, and approved by another who says again who it is', async () => {
    const sensor = await enrol(service, { name: 'proposed' });
    await reported(sensor, [TOOL]);
    expect(await see(hostPage(sensor))).toContain(
      'It has no active baseline: its scans are stored but raise no events.',
    );
    const input = { name: 'the first', reason: 'a new machine' };
    const proposed = await act(hostPage(sensor, '/propose'), input);
    const page = proposed.path;
    expect(shown(proposed.text)).toMatch(
      /All of its content: there is no previous baseline .*\/usr\/bin\/tool new file/,
    );
    expect(await tile()).toMatch(/^! Baselines await approval/);
    const own = await act(`${page}/approve`, { reason: 'mine' });
    expect([own.status, shown(own.text)]).toEqual([403, expect.stringContaining('another person must approve it')]);
    expect((await owner.get(`${page}/approve`)).path).toBe('/app/prove');
    await prove(owner);
    const silent = await act(`${page}/approve`, { reason: ' ' }, owner);
    expect([silent.status, shown(silent.text)]).toEqual([
      422,
      expect.stringContaining('Enter a reason; it is recorded.'),
    ]);
    const approved = await act(`${page}/approve`, { reason: 'looked at' }, owner);
    expect(shown(approved.text)).toMatch(
      /The baseline is active\. .*✓ active .*Proposed The operator, THEN .*Approved The owner, THEN Reason looked at/,
    );
    const { data } = (await service.call('GET', `/entries/?stream_id=endpoints/${sensor.id}`)).body;
    const acts = data.filter(({ action }: { action: string }) => action.startsWith('baseline.'));
    expect(acts.map(({ action }: { action: string }) => action)).toEqual(['baseline.proposed', 'baseline.approved']);
    expect(new Set(acts.map(({ actor }: { actor: string }) => actor)).size).toBe(2);
    const later = await act(`${page}/reject`, { reason: 'no' }, owner);
    expect([later.status, shown(later.text)]).toEqual([409, expect.stringContaining('not proposed')]);
  });

  test('that is proposed is shown by what differs from the active one, and may be rejected', async () => {
    const sensor = await watched(service, 'rejected', BEFORE);
    await reported(sensor, AFTER);
    const { baseline_id } = await propose(service, sensor, 'after');
    const page = `${PAGE}/baselines/${baseline_id}`;
    const said = await see(page);
    expect(said).toContain('Differences from the active baseline, version 1');
    expect(said).toMatch(/\/usr\/bin\/sudo content changed ✗ critical/);
    expect(said).toContain(`${HOSTILE_SHOWN} new file ! medium nothing`);
    expect(said).toContain('/usr/bin/‹0xFF›‹0xFE› not UTF-8 new file');
    expect(shown((await act(`${page}/reject`, { reason: 'who did this?' }, owner)).text)).toContain(
      'The baseline is rejected.',
    );
    expect(await see(`${PAGE}/baselines?status=rejected`)).toMatch(
      /after version 2 – rejected rejected a scan THEN THEN 6/,
    );
  });
});

describe('what differs', () => {
  let sensor: HttpSensor;
  let events: Awaited<ReturnType<typeof eventsOf>>;
  const eventPage = (key: string, below = '') => `${PAGE}/events/${events.get(key)?.event_id}${below}`;
  beforeAll(async () => {
    sensor = await watched(service, 'drift', BEFORE);
    await reported(sensor, AFTER);
    events = await eventsOf(service, sensor);
  });

  test('stands on the page of its endpoint, in words, with names of which nothing is hidden', async () => {
    const said = await see(hostPage(sensor));
    const words = [
      '/usr/bin/sudo content changed ✗ critical none',
      '/usr/bin/tool owner or permissions changed ! medium none',
      '/usr/bin/gone file removed ! medium none',
      '/usr/bin/replaced file type changed ✗ high none',
      '/usr/bin/secret cannot be read ! medium none',
      `${HOSTILE_SHOWN} new file ! medium none`,
      '/usr/bin/‹0xFF›‹0xFE› new file not UTF-8 ! medium none',
    ];
    for (const each of words) expect(said).toContain(each);
    expect(await see(PAGE)).toMatch(/drift ✓ reports ✗ 1 critical ✗ 1 high ! 5 medium first version 1 THEN 0/);
    expect(await tile()).toMatch(/^✗ Serious events on endpoints What \d+ open events, at worst critical;/);
    const { text } = await owner.get('/app/');
    expect(shown(text)).toContain('/usr/bin/sudo on drift: content changed.');
    for (const hidden of ['<script>alert', '\u001b', '\u202e']) expect(text).not.toContain(hidden);
  });

  test.each([
    ['/usr/bin/sudo', `SHA-256 ${hex('sudo 1')} ${hex('sudo 2')} ! no Size in bytes 6 6 yes Permissions 4755 4755 yes`],
    ['/usr/bin/tool', 'Permissions 0755 0777 ! no'],
    ['/usr/bin/gone', `Kind file nothing SHA-256 ${hex('a')} nothing`],
    ['/usr/bin/replaced', 'Kind file symbolic link ! no'],
    ['/usr/bin/replaced', 'Target nothing /tmp/evil‹U+000A›link one side only'],
    ['/usr/bin/secret', 'Reason nothing permission denied EACCES'],
    [HOSTILE, `${HOSTILE_SHOWN}: new file`],
    [NOT_UTF8, 'Path /usr/bin/‹0xFF›‹0xFE› not UTF-8'],
  ])('at %j is shown as it was expected and as it was observed: %s', async (path, words) => {
    expect(await see(eventPage(path))).toContain(words);
  });

  test.each([
    [{ kind: 'none' }, 'none No imported package contains this file at this path'],
    [
      { kind: 'signed_package', name: 'sudo', version: '1.9', archive: 'Debian <main>', signed_by: 'a key <1>' },
      '✓ signed package sudo 1.9 The file is from this package in the archive Debian &lt;main&gt;, signed by a key &lt;1&gt;.',
    ],
  ])('is shown with what explains it: %j', async (explanation, words) => {
    const { event_id } = events.get('/usr/bin/sudo') ?? {};
    await service.sql(
      `UPDATE endpoint_events SET explanation = '${JSON.stringify(explanation)}' WHERE event_id = '${event_id}'`,
    );
    expect(await see(eventPage('/usr/bin/sudo'))).toContain(`Explanation ${words}`);
  });

  test('is acknowledged by somebody, opened again, and leads to its entry', async () => {
    const page = eventPage('/usr/bin/tool');
    const seen = await act(`${page}/acknowledge`);
    expect(shown(seen.text)).toMatch(/The event is acknowledged\. Status – acknowledged by The operator, THEN/);
    expect(await see(`${PAGE}/events?endpoint_id=${sensor.id}&status=acknowledged`)).toContain('/usr/bin/tool');
    const [, entry = ''] = /href="([^"]*\/entries\/\d+)"/.exec(seen.text) ?? [];
    expect(await see(entry)).toMatch(/event\.raised|events\.raised|report\.accepted/);
    expect(shown((await act(`${page}/reopen`)).text)).toContain('The event is reopened. Status ✗ open');
  });

  test('is resolved by itself', async () => {
    await reported(sensor, [SUDO, ...AFTER.slice(1)]);
    expect(await see(eventPage('/usr/bin/sudo'))).toContain('✓ resolved, THEN');
    const late = await act(eventPage('/usr/bin/sudo', '/acknowledge'));
    expect([late.status, shown(late.text)]).toEqual([409, expect.stringContaining('The event is already resolved')]);
  });

  test.each([
    ['severity=high', '/usr/bin/replaced', '/usr/bin/gone'],
    ['event_type=binary_removed', '/usr/bin/gone', '/usr/bin/tool'],
    ['path=/usr/bin/secret', '/usr/bin/secret', '/usr/bin/gone'],
    ['status=resolved&path=', '/usr/bin/sudo', '/usr/bin/gone'],
    ['since=2999-01-01T00:00', 'No events match.', '/usr/bin/gone'],
  ])('is found by %s', async (query, found, other) => {
    const said = await see(`${PAGE}/events?endpoint_id=${sensor.id}&${query}`);
    expect([said.includes(found), said.includes(other)]).toEqual([true, false]);
  });

  test('is sent anew only when there is something new', async () => {
    const ask = (etag: string) =>
      fetch(`${service.origin}${PAGE}/events`, {
        headers: { cookie: `evidence_session=${owner.session}`, 'if-none-match': etag },
      });
    const first = await ask('');
    const etag = first.headers.get('etag') ?? 'none';
    expect(await first.text()).toContain(`data-live=${etag}`);
    // The page changes each minute.
    const again = async () => (await ask((await ask('')).headers.get('etag') ?? '')).status;
    expect([await again(), await again()]).toContain(304);
    await act(eventPage('/usr/bin/gone', '/acknowledge'));
    expect((await ask(etag)).status).toBe(200);
  });
});

function hex(content: string): string {
  return (file('/x', content) as { sha256: string }).sha256;
}

test('an upgrade that a signed package explains is low, and its archive is in the list', async () => {
  const [before, after] = ['1', '2'].map((version) => file('/usr/bin/upgraded', version));
  if (before === undefined || after?.type !== 'file') throw new Error('no files');
  const { database } = await openParts({ dataDir: service.dataDir, postgresUrl: null });
  await makeKnown(database, { path: '/usr/bin/upgraded', sha256: after.sha256 });
  await database.close();
  const sensor = await watched(service, 'upgraded', [before]);
  await reported(sensor, [after]);
  expect(await see(hostPage(sensor))).toContain(
    '/usr/bin/upgraded content changed – low ✓ signed package coreutils 9.1',
  );
  expect(await see(`${PAGE}/packages`)).toMatch(/Debian bookworm Debian .*1 1 1 0{64}/);
});

describe('a change on several endpoints', () => {
  const before = file('/usr/bin/shared', 'shared 1');
  const after = file('/usr/bin/shared', 'shared 2');

  test('is one, with its places, and is approved wherever it stands, and later', async () => {
    const sensors = [];
    for (const name of ['many-1', 'many-2', 'many-3']) sensors.push(await watched(service, name, [before]));
    const [one, two, three] = sensors as [HttpSensor, HttpSensor, HttpSensor];
    for (const sensor of [one, two]) await reported(sensor, [after]);
    expect(await see(`${PAGE}/changes`)).toMatch(/\/usr\/bin\/shared content changed ✗ high none 2 of 3 have it/);
    const page = `${PAGE}/changes/${(await changeOf('/usr/bin/shared')).change_id}`;
    expect(await see(page)).toMatch(/Endpoints .*many-2 ✗ open .*many-1 ✗ open/);
    const approved = shown((await act(`${page}/approve`, { reason: 'the upgrade' })).text);
    expect(approved).toMatch(
      /The change is approved\. .*✓ approved change .*Approved The operator, THEN Reason the upgrade/,
    );
    expect(approved).not.toContain('Approve on all endpoints');
    await reported(three, [after]);
    expect(await see(page)).toContain('3 of 3 have it');
    const event = (await eventsOf(service, three)).get('/usr/bin/shared');
    expect(await see(`${PAGE}/events/${event?.event_id}`)).toMatch(
      /Severity – low .*✓ approved change Approved: the change on all endpoints/,
    );
  });
});

describe('a change window', () => {
  const until = '2999-01-01T00:00';

  test.each([
    [{ reason: ' ' }, 'reason', 'Enter a reason; it is recorded.'],
    [{ until: '' }, 'until', 'Enter an end time.'],
    [{ until: '2001-01-01T00:00' }, 'until', 'Must be in the future.'],
    [{ until }, 'until', 'at most seven days'],
    [{ endpoints: undefined }, 'endpoints', 'Choose at least one endpoint.'],
  ])('that is wrong comes again with what is wrong: %j', async (wrong, field, words) => {
    const typed = { once: 'w', reason: 'kept', from: '', until: soon(), endpoints: 'all', ...wrong };
    const given = Object.entries(typed).filter((each): each is [string, string] => each[1] !== undefined);
    const { status, text } = await act(`${PAGE}/change-windows/new`, Object.fromEntries(given));
    expect([status, text.includes(`id="${field}-error"`)]).toEqual([422, true]);
    expect(shown(text)).toContain(words);
    expect((await service.call('GET', `${ENDPOINTS}/change-windows/`)).body.data).toEqual([]);
  });

  test('quiets what is found, lists it, and it is opened or approved afterwards', async () => {
    const sensor = await watched(service, 'windowed', BEFORE);
    const form = `${PAGE}/change-windows/new?endpoint_id=${sensor.id}`;
    expect((await operator.get(form)).text).toMatch(new RegExp(`value="${sensor.id}" checked`));
    const typed = { once: 'x', reason: 'the upgrade', from: '', until: soon(), endpoints: sensor.id };
    const opened = await act(`${PAGE}/change-windows/new`, typed);
    expect(shown(opened.text)).toMatch(/! open Endpoints windowed From THEN .*Opened The operator, THEN/);
    await reported(sensor, [file('/usr/bin/sudo', 'sudo 2', { mode: '4755' }), ...BEFORE.slice(1)]);
    expect(await see(opened.path)).toMatch(/Quieted events 1 .*\/usr\/bin\/sudo content changed windowed – quieted/);
    expect(await see(`${PAGE}/change-windows`)).toMatch(/the upgrade ! open 1 endpoint THEN THEN no 1/);
    expect(await see(`${PAGE}/events`)).not.toContain('windowed');
    const reopened = await act(`${opened.path}/reopen`, { reason: 'it was not meant' });
    expect(shown(reopened.text)).toMatch(/The quieted events are reopened\. .*windowed ✗ open/);
    await reported(sensor, [SUDO, file('/usr/bin/tool', 'tool 2'), ...BEFORE.slice(2)]);
    const approved = await act(`${opened.path}/approve`, { reason: 'it was meant' });
    expect(shown(approved.text)).toMatch(
      /Approved The operator, THEN Reason it was meant .*\/usr\/bin\/tool .* ✓ approved change/,
    );
    const event = (await eventsOf(service, sensor)).get('/usr/bin/tool');
    expect((await owner.get(`${PAGE}/events/${event?.event_id}`)).text).toContain(
      `${PAGE}/change-windows/${idAt(opened.path)}`,
    );
  });
});

/** Returns a time an hour from now, in the form's format. */
function soon(): string {
  return new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
}

describe('an endpoint', () => {
  const WARNING = 'This is only a label: the machine is not disconnected from the network.';

  test('is labelled as isolated, with a plain warning before and after', async () => {
    const sensor = await watched(service, 'isolated', [TOOL]);
    const form = hostPage(sensor, '/isolate');
    expect(await see(form, operator)).toContain(WARNING);
    const labelled = shown((await act(form, { reason: 'until we know' })).text);
    expect(labelled).toMatch(
      new RegExp(`isolated is labeled as isolated. ${WARNING} Labeled as isolated. ${WARNING} Labeled by The operator`),
    );
    expect(labelled).toContain('Labeled by The operator, THEN. Reason: until we know');
    expect(await see(PAGE)).toContain('isolated ✓ reports ! labeled as isolated');
    const released = await act(hostPage(sensor, '/release'), { reason: 'all is well' });
    expect(shown(released.text)).toContain('is no longer labeled as isolated.');
    expect(await see(hostPage(sensor))).not.toContain(WARNING);
  });

  test('that has another machine’s report is shown as such, and begins anew when somebody says so', async () => {
    const sensor = await watched(service, 'restarted', [TOOL]);
    const { next } = (await sensor.send('GET', '/sensor/settings')).body;
    await sensor.part(sensor.sensor.report({ ...next, sequence: 9 }, [TOOL], Date.now()));
    const event = (await eventsOf(service, sensor)).get('report_gap');
    const said = await see(`${PAGE}/events/${event?.event_id}`);
    expect(said).toContain('restarted: reports missing');
    expect(said).toMatch(/Report number 2 9 ! no/);
    const begun = await act(hostPage(sensor, '/restart'), { reason: 'restored from a backup' });
    expect(shown(begun.text)).toMatch(/starts a new chain with its next report\. .*Chain of reports number 2,/);
    expect(await see(`${PAGE}/events/${event?.event_id}`)).toContain('✓ resolved');
  });

  test('is verified when it is asked for, and what was altered is named', async () => {
    const sensor = await watched(service, 'verified', [TOOL]);
    const verify = () => act(hostPage(sensor, '/verify'), {}, auditor);
    expect(shown((await verify()).text)).toMatch(
      /✓ Verified The reports were compared with the audit stream of the endpoint, .* Checked THEN Reports 1 .*Findings 0/,
    );
    const ofSensor = `endpoint_no = (SELECT endpoint_no FROM endpoints WHERE endpoint_id = '${sensor.id}')`;
    await service.sql(`UPDATE endpoint_scans SET head = replace(head, 'a boot', 'b boot') WHERE ${ofSensor}`);
    expect(shown((await verify()).text)).toMatch(
      /✗ Verification failed .*1 of chain 1 report_digest the head of the report/,
    );
  });

  test('that does not report is stale', async () => {
    const sensor = await watched(service, 'silent', [TOOL]);
    const silentSince = new Date(Date.now() - 5 * 3_600_000).toISOString();
    const ofSensor = `endpoint_no = (SELECT endpoint_no FROM endpoints WHERE endpoint_id = '${sensor.id}')`;
    await service.sql(
      `UPDATE endpoints SET stale_at = '2026-01-01T00:00:00.000Z', enrolled_at = '${silentSince}' WHERE ${ofSensor};
       UPDATE endpoint_scans SET received_at = '${silentSince}' WHERE ${ofSensor}`,
    );
    const said = await see(`${PAGE}?status=stale`);
    expect(said).toContain('silent ✗ stale');
    expect(said).not.toContain('drift');
    expect(await see(hostPage(sensor))).toMatch(
      /It stopped reporting, .*stale since THEN.* Missed scans in 24 hours \D*4/,
    );
  });

  test('lists its scans', async () => {
    const sensor = await watched(service, 'scanned', [TOOL]);
    await reported(sensor, [TOOL]);
    expect(await see(hostPage(sensor, '/scans'))).toMatch(/2 ✓ yes the baseline at the time THEN 1 0 0 \w+ 1 ✓ yes/);
  });
});

describe('who may only read', () => {
  test('sees no button, and is refused where there is one', async () => {
    const sensor = await watched(service, 'read', BEFORE);
    await reported(sensor, AFTER);
    const { baseline_id } = await propose(service, sensor, 'after');
    const [event] = (await eventsOf(service, sensor)).values();
    const pages = [
      ['', 'enroll'],
      [`/hosts/${sensor.id}`, 'isolate', 'restart', 'propose'],
      [`/events/${event?.event_id}`, 'acknowledge', 'reopen'],
      [`/changes/${(await changeOf('/usr/bin/tool')).change_id}`, 'approve'],
      [`/baselines/${baseline_id}`, 'approve', 'reject'],
      ['/change-windows', 'new'],
    ] as const;
    for (const [path, ...acts] of pages) {
      const { text } = await auditor.get(PAGE + path);
      for (const each of acts) {
        expect(text).not.toMatch(new RegExp(`(href|action)="[^"]*/${each}["?]`));
        expect((await auditor.get(`${PAGE}${path}/${each}`)).status, `${path}/${each}`).toBe(403);
      }
    }
  });

  test.each(['hosts', 'events', 'changes', 'baselines', 'change-windows'])(
    'is told that there is nothing of an unknown id: %s',
    async (kind) => {
      expect((await auditor.get(`${PAGE}/${kind}/nothing`)).status).toBe(404);
    },
  );

  test.each([
    '?status=nope',
    '?cursor=nope',
    '/events?severity=worst',
    '/events?since=soon',
    '/changes?event_type=stale',
  ])('is told what is wrong with a question: %s', async (path) => {
    expect((await auditor.get(PAGE + path)).status).toBe(422);
  });
});

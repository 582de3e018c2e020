import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EndpointLine } from '../../../src/sensor/report/line.ts';
import { inTurn, someRows } from '../../support/some-rows.ts';
import { DATABASES } from '../database/databases.ts';
import { EndpointPlace, HOUR, type Reporter } from './endpoint-place.ts';
import { file, files, link } from './sensor-double.ts';

const unreadable: EndpointLine = { path: '/usr/bin/tool', type: 'unreadable', why: 'EACCES' };
const unstable: EndpointLine = { path: '/usr/bin/tool', type: 'unstable', why: 'changed', size: 7 };
const fifo: EndpointLine = { path: '/usr/bin/tool', type: 'fifo', mode: '0755', uid: 0, gid: 0 };
const unnamed: EndpointLine = { ...file('/x'), path: undefined, path_base64: 'L/8=' } as never;

const REST = [file('/usr/bin/a'), file('/usr/bin/z')];
const with_ = (...lines: EndpointLine[]) =>
  [...REST, ...lines].sort((one, other) => Buffer.compare(bytesOf(one), bytesOf(other)));
const bytesOf = ({ path, path_base64 }: EndpointLine) =>
  path === undefined ? Buffer.from(path_base64 ?? '', 'base64') : Buffer.from(path);

const TOOL = file('/opt/tool', 'a');
const BIN = file('/usr/bin/tool', 'a');
const SETUID = file('/usr/bin/tool', 'a', { mode: '4755' });

/** Lines before and after, with the event that the difference raises. */
const ROWS: readonly (readonly [words: string, before: EndpointLine[], after: EndpointLine[], event: object])[] = [
  ['another content', [BIN], [file('/usr/bin/tool', 'b')], { event_type: 'binary_modified', severity: 'high' }],
  [
    'another content of the same size and rights',
    [BIN],
    [file('/usr/bin/tool', 'c', { size: 1 })],
    { event_type: 'binary_modified', severity: 'high' },
  ],
  [
    'permissions',
    [BIN],
    [file('/usr/bin/tool', 'a', { mode: '0777' })],
    { event_type: 'attributes_changed', severity: 'medium' },
  ],
  [
    'an owner',
    [BIN],
    [file('/usr/bin/tool', 'a', { uid: 7 })],
    { event_type: 'attributes_changed', severity: 'medium' },
  ],
  [
    'a group',
    [BIN],
    [file('/usr/bin/tool', 'a', { gid: 7 })],
    { event_type: 'attributes_changed', severity: 'medium' },
  ],
  ['a setuid bit that appears', [BIN], [SETUID], { event_type: 'attributes_changed', severity: 'critical' }],
  [
    'another content of a setuid file',
    [SETUID],
    [file('/usr/bin/tool', 'b', { mode: '4755' })],
    { event_type: 'binary_modified', severity: 'critical' },
  ],
  [
    'a file that is new in the path of root',
    [],
    [BIN],
    { event_type: 'binary_added', severity: 'high', expected: null },
  ],
  ['a file that is new elsewhere', [], [TOOL], { event_type: 'binary_added', severity: 'medium' }],
  [
    'a setuid file that is new elsewhere',
    [],
    [file('/opt/tool', 'a', { mode: '2755' })],
    { event_type: 'binary_added', severity: 'high' },
  ],
  [
    'a file that is gone',
    [BIN],
    [],
    { event_type: 'binary_removed', severity: 'medium', observed: null, observed_sha256: null },
  ],
  ['is a link', [BIN], [link('/usr/bin/tool', '/tmp/x')], { event_type: 'file_type_changed', severity: 'high' }],
  ['a FIFO in its place', [BIN], [fifo], { event_type: 'file_type_changed', severity: 'high' }],
  [
    'a link that leads elsewhere',
    [link('/usr/bin/tool', 'x')],
    [link('/usr/bin/tool', 'y')],
    { event_type: 'binary_modified', severity: 'high' },
  ],
  ['a file that cannot be read', [BIN], [unreadable], { event_type: 'binary_unreadable', severity: 'medium' }],
  ['a file that is new and cannot be read', [], [unreadable], { event_type: 'binary_unreadable', severity: 'medium' }],
  ['a file that kept changing', [BIN], [unstable], { event_type: 'binary_unstable', severity: 'high' }],
  ['a file that can be read now', [unreadable], [BIN], { event_type: 'binary_modified', severity: 'high' }],
  [
    'the loader',
    [file('/usr/lib/ld-linux-x86-64.so.2')],
    [file('/usr/lib/ld-linux-x86-64.so.2', 'b')],
    { severity: 'critical' },
  ],
  [
    'a module of PAM',
    [file('/usr/lib/security/pam_unix.so')],
    [file('/usr/lib/security/pam_unix.so', 'b')],
    { severity: 'critical' },
  ],
  ['sshd', [file('/usr/sbin/sshd')], [file('/usr/sbin/sshd', 'b')], { severity: 'critical' }],
  ['a sudo that is new', [], [file('/usr/local/bin/sudo')], { event_type: 'binary_added', severity: 'critical' }],
  ['systemd', [file('/usr/lib/systemd/systemd')], [file('/usr/lib/systemd/systemd', 'b')], { severity: 'critical' }],
  [
    'the sensor itself',
    [file('/usr/bin/evidence-platform')],
    [file('/usr/bin/evidence-platform', 'b')],
    { severity: 'critical' },
  ],
  ['a name that is not UTF-8', [], [unnamed], { event_type: 'binary_added', path: null, path_base64: 'L/8=' }],
];

/** Both databases compare alike, so each difference runs on one of them. */
const TRIED = someRows(
  inTurn(
    ROWS,
    DATABASES.map(([name]) => name),
  ),
  ([[words]]) => words,
);

describe.each(DATABASES)('on %s', (name, start) => {
  let at: EndpointPlace;
  let host: Reporter;
  beforeAll(async () => {
    at = await EndpointPlace.open(start);
  });
  afterAll(() => at.close());
  beforeEach(async () => {
    host = await at.enrolled();
  });

  test.each(TRIED.flatMap(([row, on]) => (on === name ? [row] : [])))(
    '%s: one event, seen again as such, and resolved once it is as before',
    async (_words, before, after, expected) => {
      await host.baseline(with_(...before));
      expect(await host.open()).toEqual([]);
      const raised = await host.reports(with_(...after));
      expect(raised.events).toEqual({ open: 1, raised: 1, resolved: 0 });
      const [event, ...others] = await host.open();
      expect(others).toEqual([]);
      expect(event).toMatchObject({ ...expected, status: 'open', occurrences: 1, explanation: { kind: 'none' } });
      at.now += HOUR;
      expect((await host.reports(with_(...after))).events).toEqual({ open: 1, raised: 0, resolved: 0 });
      expect(await host.open()).toMatchObject([
        { event_id: event?.event_id, occurrences: 2, last_seen: new Date(at.now).toISOString() },
      ]);
      expect((await host.reports(with_(...before))).events).toEqual({ open: 0, raised: 0, resolved: 1 });
      expect(await at.events({ endpoint_id: host.id })).toMatchObject([
        { status: 'resolved', resolved_at: new Date(at.now).toISOString() },
      ]);
      const actions = (await at.entries(host.id)).map(({ action }) => action);
      expect(actions.filter((action) => action.startsWith('events.'))).toEqual(['events.raised', 'events.resolved']);
    },
  );

  test('what changes again is another event, and the first is resolved', async () => {
    await host.baseline(with_(BIN));
    await host.reports(with_(file('/usr/bin/tool', 'b')));
    expect((await host.reports(with_(file('/usr/bin/tool', 'c')))).events).toEqual({ open: 1, raised: 1, resolved: 1 });
    const [second, first] = await at.events({ endpoint_id: host.id });
    expect([first?.status, second?.status]).toEqual(['resolved', 'open']);
  });

  test('what an incomplete scan has not is neither removed nor as before', async () => {
    await host.baseline(with_(BIN, file('/usr/bin/tool2')));
    await host.reports(with_(file('/usr/bin/tool', 'b'), file('/usr/bin/tool2')));
    const incomplete = await host.reports(with_(file('/usr/bin/new')), { complete: false });
    expect(incomplete.events).toEqual({ open: 2, raised: 1, resolved: 0 });
    // A complete scan of the same lines also resolves events.
    expect((await host.reports(with_(file('/usr/bin/new')))).events).toEqual({ open: 3, raised: 2, resolved: 1 });
    const types = (await host.open()).map(({ event_type, path }) => `${event_type} ${path}`).sort();
    expect(types).toEqual([
      'binary_added /usr/bin/new',
      'binary_removed /usr/bin/tool',
      'binary_removed /usr/bin/tool2',
    ]);
  });

  test('without a baseline nothing is compared, and the answer says so', async () => {
    expect(await host.reports(with_(BIN))).toMatchObject({
      baseline: null,
      message: expect.stringContaining('no active baseline'),
    });
    expect((await host.reports(with_(file('/usr/bin/tool', 'b')))).events).toEqual({ open: 0, raised: 0, resolved: 0 });
    expect(await at.events({ endpoint_id: host.id })).toEqual([]);
    const { message, baseline } = await at.service.hosts.find(host.id);
    expect([message, baseline]).toEqual([expect.stringContaining('no active baseline'), null]);
  });

  test('a change among many lines is found wherever chunks end', async () => {
    const many = files(3000);
    await host.baseline(many);
    for (const changed of [0, 1, 255, 1500, 2999]) {
      const after = many.with(changed, { ...many[changed], sha256: 'f'.repeat(64) } as EndpointLine);
      expect((await host.reports(after)).events).toMatchObject({ raised: 1 });
      expect(await host.open()).toMatchObject([{ path: many[changed]?.path }]);
    }
    expect((await host.reports([...many.slice(0, 700), ...many.slice(701)])).events).toEqual({
      open: 1,
      raised: 1,
      resolved: 1,
    });
  });

  test('the same on several hosts is one change with its places', async () => {
    const hosts = [host, await at.enrolled(), await at.enrolled()];
    const path = `/usr/bin/shared-${host.id}`;
    for (const each of hosts) await each.baseline([file(path)]);
    await (await at.enrolled()).baseline([file('/usr/bin/other')]);
    for (const each of hosts.slice(0, 2)) await each.reports([file(path, 'b')]);
    const { data } = await at.service.changes.list({ limit: 10 });
    const change = data.find((each) => each.path === path);
    expect(change).toMatchObject({ event_type: 'binary_modified', places: 2, of: 3, severity: 'high' });
    const events = await at.events({ change_id: change?.change_id });
    expect(events.map(({ endpoint_id }) => endpoint_id).sort()).toEqual(
      hosts
        .slice(0, 2)
        .map(({ id }) => id)
        .sort(),
    );
    await host.reports([file(path)]);
    expect(await at.service.changes.find(change?.change_id ?? '')).toMatchObject({ places: 1, of: 3 });
  });
});

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runRound } from '../../src/sensor/round.ts';
import { type Service, startService } from '../platform/service.ts';
import { asNobody } from './scanned.ts';
import { type Watched, watched } from './watched.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const CONTENT = Buffer.alloc(600_000, 'a tool ');

/** Sets up a machine whose baseline has a tool and another file. */
async function withBaseline(): Promise<{ machine: Watched; tool: string; restore: () => void }> {
  const machine = await watched(service);
  const tool = join(machine.root, 'tool');
  const restore = () => {
    rmSync(machine.root, { recursive: true, force: true });
    mkdirSync(machine.root);
    writeFileSync(join(machine.root, 'other'), 'other');
    writeFileSync(tool, CONTENT);
    for (const path of [tool, join(machine.root, 'other')]) chmodSync(path, 0o755);
    utimesSync(tool, 1, 1);
  };
  restore();
  const { accepted } = await machine.round();
  expect([accepted.events.raised, accepted.message]).toEqual([0, expect.stringMatching(/no active baseline/)]);
  await machine.approve();
  expect((await machine.round()).accepted.events).toEqual({ open: 0, raised: 0, resolved: 0 });
  return { machine, tool, restore };
}

const bytes = (path: string, name: number[]) => Buffer.concat([Buffer.from(`${path}/`), Buffer.from(name)]);

/** Changes to a machine, with the expected events about the tool, or about the path named. */
const ROWS: [name: string, change: (tool: string, root: string) => void, events: (string | [string, string])[]][] = [
  ['a byte is appended', (tool) => appendFileSync(tool, '!'), ['binary_modified']],
  [
    'a byte is changed and the time is set back',
    (tool) => {
      writeFileSync(tool, Buffer.concat([Buffer.from('A'), CONTENT.subarray(1)]));
      utimesSync(tool, 1, 1);
    },
    ['binary_modified'],
  ],
  ['its permissions change', (tool) => chmodSync(tool, 0o775), ['attributes_changed']],
  ['it becomes setuid', (tool) => chmodSync(tool, 0o4755), ['attributes_changed']],
  ['its owner changes', (tool) => chownSync(tool, 65_534, 0), ['attributes_changed']],
  ['its group changes', (tool) => chownSync(tool, 0, 65_534), ['attributes_changed']],
  ['nothing but its time changes', (tool) => utimesSync(tool, 2, 2), []],
  ['it is removed', (tool) => rmSync(tool), ['binary_removed']],
  ['a file is added', (_tool, root) => writeFileSync(join(root, 'new'), ''), [['binary_added', 'new']]],
  ['it is moved', (tool, root) => renameSync(tool, join(root, 'moved')), [['binary_added', 'moved'], 'binary_removed']],
  [
    'a link comes in its place',
    (tool) => {
      rmSync(tool);
      symlinkSync('other', tool);
    },
    ['file_type_changed'],
  ],
  [
    'a FIFO comes in its place',
    (tool) => {
      rmSync(tool);
      execFileSync('mkfifo', [tool]);
    },
    ['file_type_changed'],
  ],
  ['it is larger than any binary', (tool) => truncateSync(tool, 2 ** 38 + 1), ['binary_unreadable']],
  [
    'names come that steer a terminal, have line feeds, or are no UTF-8',
    (_tool, root) => {
      for (const name of ['\u001b[2J', 'a\nb', '\u2028']) writeFileSync(join(root, name), '');
      writeFileSync(bytes(root, [0xff, 0x0a]), '');
    },
    [
      ['binary_added', '\u001b[2J'],
      ['binary_added', 'a\nb'],
      ['binary_added', '\u2028'],
      ['binary_added', Buffer.from([0xff, 0x0a]).toString('latin1')],
    ],
  ],
];

test.each(ROWS)(
  '%s: the events that the design says, which end when it is as before',
  async (_name, change, events) => {
    const { machine, tool, restore } = await withBaseline();
    change(tool, machine.root);
    const { accepted } = await machine.round();
    expect(accepted.events).toEqual({ open: events.length, raised: events.length, resolved: 0 });
    expect(await machine.types()).toEqual(events.map((event) => (typeof event === 'string' ? event : event[0])).sort());
    const [first] = events;
    if (typeof first === 'string') expect(await machine.open()).toContainEqual(expect.objectContaining({ path: tool }));
    restore();
    expect((await machine.round()).accepted.events).toEqual({ open: 0, raised: 0, resolved: events.length });
  },
);

test('what may not be read is unreadable, and is not taken for removed', async () => {
  const { machine, tool, restore } = await withBaseline();
  const deps = machine.deps();
  execFileSync('chown', ['-R', 'nobody', machine.folder]);
  chmodSync(tool, 0o700);
  await asNobody(async () => {
    await using _service = deps.service;
    return await runRound(deps);
  });
  expect(await machine.types()).toEqual(['binary_unreadable']);
  restore();
  expect((await machine.round()).accepted.events).toMatchObject({ open: 0, resolved: 1 });
});

test('what is rewritten again and again while it is read is unstable', async () => {
  const { machine, tool, restore } = await withBaseline();
  const deps = { ...machine.deps(), pace: () => ({ took: () => void appendFileSync(tool, '!') }) };
  await using _service = deps.service;
  expect((await runRound(deps)).scanned.unread).toBe(1);
  expect(await machine.types()).toEqual(['binary_unstable']);
  restore();
  expect((await machine.round()).accepted.events).toMatchObject({ open: 0, resolved: 1 });
});

test('what goes away while it is read is removed', async () => {
  const { machine, tool, restore } = await withBaseline();
  const deps = { ...machine.deps(), pace: () => ({ took: () => void rmSync(tool, { force: true }) }) };
  await using _service = deps.service;
  await runRound(deps);
  expect(await machine.types()).toEqual(['binary_removed']);
  restore();
  expect((await machine.round()).accepted.events).toMatchObject({ open: 0, resolved: 1 });
});

test('/usr/bin and /usr/sbin of this machine: a baseline, and a scan without events', async () => {
  const machine = await watched(service, ['/bin', '/usr/bin', '/usr/sbin', '/sbin']);
  const { scanned } = await machine.round();
  expect([scanned.complete, scanned.lineCount > 500]).toEqual([true, true]);
  await machine.approve();
  const again = await machine.round();
  expect(again.accepted.events).toEqual({ open: 0, raised: 0, resolved: 0 });
  expect(again.scanned.rootHash).toBe(scanned.rootHash);
});

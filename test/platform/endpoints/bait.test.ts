import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BaitKeeper } from '../../../src/sensor/bait/keeper.ts';
import { BaitWatch } from '../../../src/sensor/bait/watch.ts';
import { runRound } from '../../../src/sensor/round.ts';
import { type Watched, watched } from '../../sensor/watched.ts';
import { type Service, startService } from '../service.ts';
import { settingsOf } from '../traps/decoy-places.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ decoys: [settingsOf({ kind: 'aws' })] });
});
afterAll(() => service.close());

interface Bait {
  bait_id: string;
  credential_id: string;
  path: string;
  status: string;
  seen_by: string[];
  reason: string | null;
}

/** Bait on a watched machine. */
class Place {
  readonly machine: Watched;
  readonly path: string;
  bait!: Bait;

  constructor(machine: Watched) {
    this.machine = machine;
    this.path = join(dirname(machine.root), 'home', '.aws', 'credentials');
    mkdirSync(dirname(this.path), { recursive: true });
  }

  async ask(more: object = {}) {
    const input = { credential_type: 'aws_key', path: this.path, label: 'a trap', ...more };
    const answer = await this.machine.post(`/hosts/${this.machine.id}/bait`, input);
    this.bait = answer.body;
    return answer;
  }

  async stands(): Promise<Bait | undefined> {
    const { body } = await service.call('GET', `//endpoints/hosts/${this.machine.id}/bait`);
    return body.data.find(({ bait_id }: Bait) => bait_id === this.bait.bait_id);
  }

  remove() {
    return service.call('DELETE', `//endpoints/hosts/${this.machine.id}/bait/${this.bait.bait_id}`);
  }

  async detections() {
    const path = `//traps/api/v1/detections/?credential_id=${this.bait.credential_id}`;
    return (await service.call('GET', path)).body.data;
  }

  async trap() {
    return (await service.call('GET', `//traps/api/v1/credentials/${this.bait.credential_id}`)).body;
  }

  /** Returns the endpoint's actions on bait, from its stream. */
  async actions(): Promise<string[]> {
    const { body } = await service.call('GET', `/entries/?stream_id=endpoints/${this.machine.id}&limit=500`);
    return body.data
      .map(({ action }: { action: string }) => action)
      .filter((action: string) => action.startsWith('bait.'))
      .sort();
  }
}

async function place(): Promise<Place> {
  return new Place(await watched(service));
}

/** Returns bait that the sensor has planted and reported. */
async function planted(more: object = {}): Promise<Place> {
  const made = await place();
  const { status, text } = await made.ask(more);
  if (status !== 201) throw new Error(text);
  const { problems } = await made.machine.round();
  expect(problems).toEqual([]);
  return made;
}

const cat = (path: string) => execFileSync('cat', [path], { encoding: 'utf8' });

test('it is planted by the sensor, and a cat of it is one detection of the depth read, with its entry, by the next round', async () => {
  const here = await planted({ mode: '640' });
  expect(await here.stands()).toMatchObject({ status: 'planted', seen_by: ['atime'] });
  expect(lstatSync(here.path).mode & 0o7777).toBe(0o640);
  expect(readdirSync(dirname(here.path))).toEqual(['credentials']);
  expect(await here.trap()).toMatchObject({
    status: 'planted',
    plant_location: 'server',
    detection_channels: expect.arrayContaining([
      { channel: 'file_read', active: true, reason: expect.any(String), last_proved_at: expect.any(String) },
    ]),
  });
  await here.machine.round();
  expect(await here.detections()).toEqual([]);

  expect(cat(here.path)).toMatch(/aws_access_key_id = AKIA/);
  await here.machine.round();
  await here.machine.round();
  const [detection, ...others] = await here.detections();
  expect(others).toEqual([]);
  expect(detection).toMatchObject({ channel: 'file_read', depth: 'read', occurrences: 1, action: `read ${here.path}` });
  const { stream_id, sequence } = detection.entry;
  const entries = (await service.call('GET', `/entries/?stream_id=${stream_id}&limit=500`)).body.data;
  const entry = entries.find((each: { sequence: number }) => each.sequence === sequence);
  expect(entry).toMatchObject({ action: 'trap.used', metadata: { depth: 'read', channel: 'file_read' } });
  expect(await here.actions()).toEqual(['bait.asked', 'bait.planted']);

  cat(here.path);
  await here.machine.round();
  expect(await here.detections()).toMatchObject([{ occurrences: 2 }]);
});

test('a scan of a root, and a second sensor that looks, are no reads', async () => {
  const here = await planted();
  for (let round = 0; round < 3; round++) await here.machine.round();
  expect(await here.detections()).toEqual([]);
  expect(await here.machine.types()).toEqual([]);
});

test('with inotifywait a read is seen at once', async () => {
  const here = await place();
  await here.ask();
  const deps = here.machine.deps();
  await using _service = deps.service;
  const bait = new BaitKeeper({ ...deps, canWatch: true });
  await runRound({ ...deps, bait });
  expect(await here.stands()).toMatchObject({ seen_by: ['atime', 'inotify'] });
  const { promise, resolve } = Promise.withResolvers<unknown>();
  using watch = new BaitWatch((path, sign) => bait.look(path, sign).then((told) => resolve([path, sign, told])));
  await watch.follow(bait.paths());
  cat(here.path);
  expect(await promise).toEqual([here.path, 'inotify', []]);
  expect(await here.detections()).toMatchObject([{ depth: 'read', channel: 'file_read' }]);
});

test('a read before the service knows that it is planted is a detection, and what was lost is told again', async () => {
  const here = await place();
  await here.ask();
  const deps = here.machine.deps();
  await using _service = deps.service;
  const deaf = { ...deps.service, ask: (path: string, body?: string) => (body ? lost() : deps.service.ask(path)) };
  const round = runRound({
    ...deps,
    service: deaf,
    bait: new BaitKeeper({ ...deps, service: deaf, canWatch: false }),
  });
  await expect(round).rejects.toThrow('lost');
  expect(await here.stands()).toMatchObject({ status: 'asked' });
  cat(here.path);
  await here.machine.round();
  expect(await here.stands()).toMatchObject({ status: 'planted' });
  expect(await here.detections()).toMatchObject([{ depth: 'read', occurrences: 1 }]);
});

async function lost(): Promise<never> {
  throw new Error('lost');
}

const FAULTS: [name: string, change: (here: Place) => void, type: string, status: string][] = [
  ['it is removed', ({ path }) => rmSync(path), 'bait_missing', 'lost'],
  [
    'another file comes in its place',
    ({ path }) => {
      writeFileSync(`${path}.new`, readFileSync(path));
      renameSync(`${path}.new`, path);
    },
    'bait_missing',
    'lost',
  ],
  [
    'its folder becomes a link',
    ({ path }) => {
      renameSync(dirname(path), `${dirname(path)}.old`);
      symlinkSync(`${dirname(path)}.old`, dirname(path));
    },
    'bait_missing',
    'lost',
  ],
  ['it is written to', ({ path }) => writeFileSync(path, 'x'), 'bait_changed', 'planted'],
  ['its mode changes', ({ path }) => chmodSync(path, 0o644), 'bait_changed', 'planted'],
  [
    'it is read, and its times are set back',
    ({ path }) => {
      const { atime, mtime } = lstatSync(path);
      cat(path);
      utimesSync(path, atime, mtime);
    },
    'bait_changed',
    'planted',
  ],
  ['the sensor forgets it', ({ machine }) => rmSync(join(machine.folder, 'bait.json')), 'bait_missing', 'lost'],
];

test.each(FAULTS)('%s: an event', async (_name, change, type, status) => {
  const here = await planted();
  change(here);
  await here.machine.round();
  await here.machine.round();
  expect(await here.machine.open()).toMatchObject([{ event_type: type, path: here.path, severity: 'high' }]);
  expect(await here.stands()).toMatchObject({ status });
});

const REFUSED: [name: string, prepare: (here: Place) => void, reason: RegExp][] = [
  ['a file is there', ({ path }) => writeFileSync(path, 'mine'), /a file already exists there/],
  ['a link is there', ({ path }) => symlinkSync('/nowhere', path), /a file already exists there/],
  ['its folder does not exist', ({ path }) => rmSync(dirname(path), { recursive: true }), /its folder does not exist/],
  [
    'its folder is a link',
    ({ path, machine }) => {
      rmSync(dirname(path), { recursive: true });
      symlinkSync(machine.folder, dirname(path));
    },
    /a link/,
  ],
];

test.each(REFUSED)('%s: nothing is planted, and the reason is told', async (_name, prepare, reason) => {
  const here = await place();
  prepare(here);
  await here.ask();
  const before = existsSync(here.path) ? readFileSync(here.path, 'utf8') : null;
  await here.machine.round();
  expect(await here.stands()).toMatchObject({ status: 'refused', reason: expect.stringMatching(reason) });
  expect(existsSync(here.path) ? readFileSync(here.path, 'utf8') : null).toBe(before);
  expect(await here.actions()).toEqual(['bait.asked', 'bait.refused']);
});

test.each([
  ['under a root', { path: '/usr/bin/x' }, 409],
  ['a path with ..', { path: '/home/../etc/x' }, 422],
  ['no file of its own', { credential_type: 'web_bug' }, 422],
  ['setuid', { mode: '4755' }, 422],
])('%s: refused by the service', async (_name, more, status) => {
  const here = new Place(await watched(service, ['/usr/bin']));
  expect((await here.ask(more)).status).toBe(status);
});

test('it is removed when that is asked for, and its trap stays one', async () => {
  const here = await planted();
  expect((await here.remove()).body.status).toBe('leaving');
  await here.machine.round();
  expect(existsSync(here.path)).toBe(false);
  expect(await here.stands()).toMatchObject({ status: 'removed' });
  expect(await here.machine.types()).toEqual([]);
  expect((await here.trap()).status).toBe('planted');
  expect(await here.actions()).toEqual(['bait.asked', 'bait.planted', 'bait.removed', 'bait.unwanted']);
});

test('what is not what was planted is left where it is', async () => {
  const here = await planted();
  writeFileSync(here.path, 'of somebody');
  await here.remove();
  await here.machine.round();
  expect(readFileSync(here.path, 'utf8')).toBe('of somebody');
  expect(await here.stands()).toMatchObject({ status: 'left' });
  expect(await here.machine.types()).toContain('bait_changed');
});

test('the secret is in the file alone: not in the folder of the sensor, nor in the database, nor in settings any more', async () => {
  const here = await place();
  await here.ask();
  const { body } = await service.call('GET', `//endpoints/hosts/${here.machine.id}/bait`);
  await using client = here.machine.client();
  const [sent] = ((await client.ask('/sensor/settings')).body as { bait: { content: string }[] }).bait;
  const secret = /aws_secret_access_key = (\S{40})/.exec(sent?.content ?? '')?.[1] ?? 'none was sent';
  const inDatabase = () => readFileSync(join(service.dataDir, 'platform.sqlite')).includes(secret);
  expect([JSON.stringify(body).includes(secret), inDatabase()]).toEqual([false, false]);
  await here.machine.round();
  expect(readFileSync(here.path, 'utf8')).toContain(secret);
  for (const name of readdirSync(here.machine.folder))
    expect([name, readFileSync(join(here.machine.folder, name), 'utf8').includes(secret)]).toEqual([name, false]);
  expect((await client.ask('/sensor/settings')).body).toMatchObject({ bait: [{ content: null, wanted: 'planted' }] });
  const isGone = `SELECT content IS NULL FROM endpoint_bait WHERE bait_id = '${here.bait.bait_id}'`;
  expect(await service.sql(isGone)).toBe('1\n');
});

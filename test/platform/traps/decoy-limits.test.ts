import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  DECOY_KINDS,
  type Decoy,
  type DecoyDeps,
  type DecoyKind,
  type FoundTrap,
} from '../../../src/platform/traps/decoys/decoy.ts';
import { type ConnectionLimits, LimitedConnections } from '../../../src/platform/traps/decoys/limits.ts';
import { startDecoys } from '../../../src/platform/traps/decoys/start.ts';
import type { PlantedType } from '../../../src/platform/traps/enums.ts';
import { TYPES } from '../../../src/platform/traps/types/types.ts';
import type { TrapUse } from '../../../src/platform/traps/use.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { someRows } from '../../support/some-rows.ts';
import { certificateIn, settingsOf } from './decoy-places.ts';

const WIDE: ConnectionLimits = {
  atOnce: 100,
  ofOneAddress: 100,
  bytes: 1_000_000,
  firstByteMs: 60_000,
  idleMs: 60_000,
  wholeMs: 60_000,
};
const close: (() => Promise<void>)[] = [];
let certificate: { certificate: string; key: string };

beforeAll(async () => {
  certificate = await certificateIn();
});

afterEach(async () => {
  for (const each of close.splice(0)) await each();
});

/** Servers that answer each piece of data. */
const SERVERS: [string, () => Server][] = [
  ['TCP', () => net.createServer((socket) => socket.on('data', () => socket.write('.')))],
  ['HTTP', () => http.createServer((request) => request.resume())],
  ['TLS', () => tls.createServer({ cert: certificate.certificate, key: certificate.key }, (socket) => socket.resume())],
];

async function serve(server: Server, limits: Partial<ConnectionLimits>) {
  const connections = new LimitedConnections(server, { ...WIDE, ...limits });
  close.push(() => connections.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { connections, connect: () => connect(port) };
}

async function connect(port: number): Promise<Socket> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  return socket.resume();
}

/** Returns the milliseconds until a connection closes. */
async function ended(socket: Socket): Promise<number> {
  const since = performance.now();
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return performance.now() - since;
}

describe.each(SERVERS)('a server of %s', (_, make) => {
  // The connections run concurrently, because each waits for its limit.
  test('ends a connection that says nothing, falls silent, goes on for too long or sends too much', async () => {
    const rows: [string, Partial<ConnectionLimits>, string][] = [
      ['says nothing', { firstByteMs: 300 }, ''],
      ['falls silent', { idleMs: 300 }, 'G'],
      ['goes on for too long', { wholeMs: 300 }, 'G'],
      ['sends too much', { bytes: 999 }, 'G'.repeat(1000)],
    ];
    const ends = rows.map(async ([what, limits, sent]) => {
      const { connections, connect } = await serve(make(), limits);
      const socket = await connect();
      socket.write(sent);
      expect(await ended(socket), what).toBeLessThan(5000);
      await expect.poll(() => connections.count, { message: what }).toBe(0);
    });
    await Promise.all(ends);
  });

  test('that is full ends its oldest connection for a new one', async () => {
    const { connections, connect } = await serve(make(), { atOnce: 2 });
    const [first, second, third] = [await connect(), await connect(), await connect()];
    await ended(first);
    await expect.poll(() => connections.count).toBe(2);
    expect([second.closed, third.closed]).toEqual([false, false]);
  });

  test('that is full of one address ends the oldest of it', async () => {
    const { connections, connect } = await serve(make(), { ofOneAddress: 1 });
    const [first, second] = [await connect(), await connect()];
    await ended(first);
    expect([connections.count, second.closed]).toEqual([1, false]);
  });

  test('closes at once, whoever is there', async () => {
    const { connections, connect } = await serve(make(), {});
    const all = await Promise.all(Array.from({ length: 20 }, connect));
    const since = performance.now();
    await connections.close();
    expect(performance.now() - since).toBeLessThan(1000);
    await Promise.all(all.map(ended));
    expect(connections.count).toBe(0);
    close.length = 0;
  });
});

/** Interval between checks of connections. */
const LOOK_MS = 250;

/** Simulated time that advances on request, and then checks all connections once. */
function saidTime() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  // An integer, so that a day of additions stays exact.
  let now = Math.floor(performance.now());
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now);
  return {
    pass(ms: number): void {
      now += ms;
      vi.advanceTimersByTime(LOOK_MS);
    },
    [Symbol.dispose](): void {
      spy.mockRestore();
      vi.useRealTimers();
    },
  };
}

test('bytes that go on moving keep a connection', async () => {
  const echo = net.createServer((socket) => socket.on('data', () => socket.write('.')));
  const { connections, connect } = await serve(echo, { idleMs: 600 });
  using time = saidTime();
  const socket = await connect();
  for (let times = 0; times < 5; times++) {
    const answered = once(socket, 'data');
    socket.write('.');
    await answered;
    time.pass(500);
    expect(connections.count).toBe(1);
  }
  time.pass(600);
  await ended(socket);
});

test('a day of a byte a minute ends with the day, and holds as much as one connection does', () => {
  using time = saidTime();
  const server = new EventEmitter() as Server;
  const connections = new LimitedConnections(server, { ...WIDE, idleMs: 120_000, wholeMs: 24 * 60 * 60_000 });
  const socket = Object.assign(new EventEmitter(), { bytesRead: 0, bytesWritten: 0, destroyed: 0 });
  const destroy = () => {
    socket.destroyed++;
    socket.emit('close');
  };
  server.emit('connection', Object.assign(socket, { destroy }));
  for (let minute = 0; minute < 24 * 60; minute++) {
    expect([connections.count, vi.getTimerCount()]).toEqual([1, 1]);
    socket.bytesRead++;
    time.pass(60_000);
  }
  expect([connections.count, socket.destroyed, vi.getTimerCount()]).toEqual([0, 1, 0]);
});

/** Endless beginning of a client for each kind, and the trap that leads to the decoy. */
const KINDS: Record<DecoyKind, { type: PlantedType; begins: string; isTls: boolean }> = {
  aws: { type: 'aws_key', begins: 'GET /b HTTP/1.1\r\nX: ', isTls: false },
  kubernetes: { type: 'kubeconfig', begins: 'GET /api HTTP/1.1\r\nX: ', isTls: true },
  postgres: { type: 'db_connection_string', begins: '\0\0\x27\x10\0\x03\0\0user\0', isTls: false },
  ssh: { type: 'ssh_key', begins: 'SSH-2.0-', isTls: false },
  web: { type: 'api_token', begins: 'GET /api/v1 HTTP/1.1\r\nX: ', isTls: true },
};
const HANDSHAKE = Buffer.from('16030102000100', 'hex');
const MB = 2 ** 20;
/** Numbers of connections above some decoys' limit per address, and above the limit of all decoys. */
const CROWDS = someRows([300, 1000], () => 'a crowd');

/** Returns the memory in use, on and off the heap. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe.each(DECOY_KINDS)('a decoy of kind %s', (kind) => {
  const { type, begins, isTls } = KINDS[kind];
  const uses: TrapUse[] = [];
  let folder: string;
  let decoy: Decoy;
  let trap: FoundTrap;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'decoys-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  // A decoy for each test: closing connections of another test would be checked by that test's clock.
  beforeEach(async () => {
    const known = new Set<string>();
    const deps = {
      find: async (marks: readonly { value: string }[]) => (marks.some(({ value }) => known.has(value)) ? trap : null),
      record: async (use: TrapUse) => void uses.push(use),
      clock: () => new Date(),
      log: { error: (...said: unknown[]) => expect(said).toEqual([]) },
    };
    [decoy] = (await startDecoys([settingsOf({ kind })], folder, deps as unknown as DecoyDeps)) as [Decoy];
    const { place } = decoy;
    const made = await TYPES[type].make({
      plantLocation: 'server',
      label: 'x',
      decoy: place,
      places: [place],
      options: {},
      publicUrl: 'https://platform.example',
      now: new Date(),
    });
    for (const { value } of made.marks) known.add(value);
    trap = { trapNo: 1, type, credential: made.credential };
  });
  afterEach(() => decoy.close());

  /** Expects a well-behaved client to be seen. */
  const expectSeen = async () => {
    const before = uses.length;
    await decoy.probe(trap, 'somebody');
    expect(uses.length).toBeGreaterThan(before);
  };

  test.each(CROWDS)(
    'sees a use among %i that say nothing, half of something, nonsense, or no more, and takes little',
    async (crowd) => {
      await expectSeen();
      const before = heldBytes();
      const others = await Promise.all(Array.from({ length: crowd }, () => connect(decoy.place.port)));
      for (const [at, socket] of others.entries()) {
        if (at % 4 === 1) socket.write(isTls ? HANDSHAKE : begins);
        if (at % 4 === 2) socket.write(Buffer.alloc(20_000, at));
        if (at % 4 === 3) socket.end(begins);
      }
      await expectSeen();
      // The clients' sockets are in this process too.
      expect(heldBytes() - before).toBeLessThan((crowd / 50) * MB);
      for (const socket of others) socket.destroy();
    },
  );

  test('holds nobody for a day who says a little each minute, and keeps nothing of it', async () => {
    let ended = 0;
    const open = async () => {
      const socket = isTls
        ? tls.connect({ port: decoy.place.port, host: '127.0.0.1', rejectUnauthorized: false })
        : net.connect(decoy.place.port, '127.0.0.1');
      socket.on('error', () => {}).resume();
      socket.once('close', () => ended++);
      await once(socket, isTls ? 'secureConnect' : 'connect');
      socket.setNoDelay().write(begins);
      return socket;
    };
    using time = saidTime();
    const others = await Promise.all(Array.from({ length: 3 }, open));
    const before = heldBytes();
    for (let seconds = 0; seconds < 24 * 60 * 60; seconds += 50) {
      for (const [at, socket] of others.entries()) {
        if (socket.destroyed) others[at] = await open();
        else socket.write('a');
      }
      // Sent bytes arrive before the clock advances.
      for (let turn = 0; turn < 3; turn++) await setImmediate();
      time.pass(50_000);
      await setImmediate();
    }
    expect(heldBytes() - before).toBeLessThan(4 * MB);
    // A busy machine delivers the close late; some logins wait up to a minute of real time.
    await expect.poll(() => ended, { timeout: 20_000 }).toBeGreaterThan(0);
    await expectSeen();
    for (const socket of others) socket.destroy();
  });
});

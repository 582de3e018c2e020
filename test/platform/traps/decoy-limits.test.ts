import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ConnectionLimits, LimitedConnections } from '../../../src/platform/traps/decoys/limits.ts';
import { certificateIn } from './decoy-places.ts';

const WIDE: ConnectionLimits = {
  ...{ atOnce: 100, ofOneAddress: 100, bytes: 1_000_000 },
  ...{ firstByteMs: 60_000, idleMs: 60_000, wholeMs: 60_000 },
};
const close: (() => Promise<void>)[] = [];
let certificate: { certificate: string; key: string };

beforeAll(async () => {
  certificate = await certificateIn();
});

afterEach(async () => {
  for (const each of close.splice(0)) await each();
});

/** Servers that answer each piece that they are sent. */
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

/** How long a connection stood, in milliseconds. */
async function ended(socket: Socket): Promise<number> {
  const since = performance.now();
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return performance.now() - since;
}

describe.each(SERVERS)('a server of %s', (_, make) => {
  test.each<[string, Partial<ConnectionLimits>, string]>([
    ['that says nothing', { firstByteMs: 300 }, ''],
    ['that falls silent', { idleMs: 300 }, 'G'],
    ['that goes on for too long', { wholeMs: 300 }, 'G'],
    ['that sends too much', { bytes: 999 }, 'G'.repeat(1000)],
  ])('ends a connection %s', async (__, limits, sent) => {
    const { connections, connect } = await serve(make(), limits);
    const socket = await connect();
    socket.write(sent);
    expect(await ended(socket)).toBeLessThan(5000);
    await expect.poll(() => connections.count).toBe(0);
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

test('bytes that go on moving keep a connection', async () => {
  const { connect } = await serve(
    net.createServer((socket) => socket.on('data', () => socket.write('.'))),
    {
      idleMs: 600,
    },
  );
  const socket = await connect();
  const talk = setInterval(() => socket.write('.'), 100);
  const since = performance.now();
  setTimeout(() => clearInterval(talk), 1500);
  await ended(socket);
  expect(performance.now() - since).toBeGreaterThan(1500);
});

test('a day of a byte a minute ends with the day, and holds as much as one connection does', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  try {
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
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect([connections.count, socket.destroyed, vi.getTimerCount()]).toEqual([0, 1, 0]);
  } finally {
    vi.useRealTimers();
  }
});

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Server } from 'node:net';
import { afterAll, describe, test } from 'vitest';
import { connectSensor } from '../../src/sensor/client.ts';

const LIMITS = { connectMs: 150, silenceMs: 150, wholeMs: 500 };

const servers: (() => void)[] = [];
afterAll(() => {
  for (const close of servers) close();
});

/** Starts a server. @returns its port. */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

function answering(answer: (reply: ServerResponse) => void): Promise<number> {
  return listen(createServer((_request, reply) => answer(reply)));
}

describe.concurrent('a service is given up, and what was signed is kept, when it', () => {
  test.for([
    ['takes the connection and says nothing', 'http', () => answering(() => {})],
    ['never ends the TLS handshake', 'https', () => listen(net.createServer())],
    ['stops in the middle of its answer', 'http', () => answering((reply) => reply.writeHead(200).write('{"a":'))],
    [
      'sends a byte now and then',
      'http',
      () =>
        answering((reply) => {
          reply.writeHead(200);
          const drip = setInterval(() => reply.write(' '), 50);
          servers.push(() => clearInterval(drip));
        }),
    ],
  ] as const)('%s', async ([, protocol, start], { expect }) => {
    const waits: number[] = [];
    const wait = async (milliseconds: number) => void waits.push(milliseconds);
    const url = `${protocol}://127.0.0.1:${await start()}/endpoints`;
    await using client = connectSensor({ url, token: 'a-token', wait, limits: LIMITS });
    await expect(client.ask('/sensor/settings')).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`${url}/sensor/settings cannot be reached: `),
      nextStep: expect.stringContaining('The signed report is kept'),
    });
    expect(waits).toHaveLength(4);
  });
});

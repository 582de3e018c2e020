import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Writes arbitrary bytes in answer to a request; `turn` counts requests from 0. */
export type RawReply = (socket: Socket, turn: number) => void;

/** Starts a server for answers that HTTP libraries refuse to send. */
export async function startRawServer(
  reply: RawReply,
): Promise<{ url: string; turns(): number; close(): Promise<void> }> {
  let turns = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      head = '';
      reply(socket, turns++);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turns: () => turns,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

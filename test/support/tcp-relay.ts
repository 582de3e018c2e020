import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A relay to a port of this machine. */
export interface TcpRelay {
  port: number;
  /** Port to which new connections lead. */
  target: number;
  /** Leaves all present connections open, but passes nothing on. */
  freeze(): void;
  close(): void;
}

/**
 * @param at listening address; by default any port of 127.0.0.1.
 * @param onConnection receives both ends of each connection.
 */
export async function startTcpRelay(
  target: number,
  at: { port: number; host: string } = { port: 0, host: '127.0.0.1' },
  onConnection: (incoming: Socket, outgoing: Socket) => void = () => {},
): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(relay.target, '127.0.0.1');
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          // Pending data still arrives.
          other.destroySoon();
        });
    }
    onConnection(incoming, outgoing);
  });
  server.listen(at.port, at.host);
  await once(server, 'listening');
  const relay: TcpRelay = {
    port: (server.address() as AddressInfo).port,
    target,
    freeze: () => {
      for (const socket of sockets)
        socket
          .unpipe()
          .removeAllListeners('close')
          .on('close', () => sockets.delete(socket));
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return relay;
}

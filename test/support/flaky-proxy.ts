import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server of this machine that breaks and stalls at random. */
export interface FlakyProxy {
  port: number;
  /** True while it breaks and stalls connections. */
  isFlaky: boolean;
  close(): void;
}

const BROKEN = 0.05;
const STALLED = 0.02;
const STALL_MS = 3000;
/** After so many bytes at most. */
const WITHIN_BYTES = 20_000;

export async function startFlakyProxy(port: number, random: () => number): Promise<FlakyProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1');
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          incoming.destroy();
          outgoing.destroy();
        });
    }
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
    const drawn = proxy.isFlaky ? random() : 1;
    if (drawn >= BROKEN + STALLED) return;
    const after = random() * WITHIN_BYTES;
    let bytes = 0;
    outgoing.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes < after) return;
      if (drawn < BROKEN) incoming.destroy();
      else {
        outgoing.pause();
        setTimeout(() => outgoing.resume(), STALL_MS).unref();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: FlakyProxy = {
    port: (server.address() as AddressInfo).port,
    isFlaky: true,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}

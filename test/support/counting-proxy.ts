import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A way to a server of this machine that counts requests. */
export interface CountingProxy {
  url: string;
  /** Number of requests by method. */
  counts: Record<string, number>;
  close(): void;
}

export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const counts: Record<string, number> = {};
  const server = createServer((incoming, outgoing) => {
    const { method = '', url: path, headers } = incoming;
    counts[method] = (counts[method] ?? 0) + 1;
    // The host that the client signed stands in its headers.
    const forwarded = request({ hostname, port, method, path, headers, setHost: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts, close };
}

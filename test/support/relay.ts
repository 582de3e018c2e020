import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Relay {
  /** Address of the relayed server, with the relay's origin. */
  url: string;
  /** All requests, in order. */
  requests: Asked[];
  close(): Promise<void>;
}

export interface Asked {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingMessage['headers'];
}

/**
 * Starts a relay for a plain HTTP server that changes nothing, not even the host name, which S3 requests sign.
 * @param options `aheadMs`: milliseconds by which the server's clock seems ahead. `holds`: true for requests that are
 * never forwarded or answered.
 */
export async function startRelay(
  target: string,
  { aheadMs = 0, holds = () => false }: { aheadMs?: number; holds?: (asked: Asked) => boolean } = {},
): Promise<Relay> {
  const { hostname, port, pathname } = new URL(target);
  const requests: Asked[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const asked = { method, url, headers };
    requests.push(asked);
    if (holds(asked)) return;
    const onward = request({ hostname, port, path: url, method, headers }, (answer) => {
      const date = new Date(Date.now() + aheadMs).toUTCString();
      outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, date });
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${own}${pathname === '/' ? '' : pathname}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

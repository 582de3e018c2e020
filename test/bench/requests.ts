import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RequestCounter {
  /** Where the same service answers, counted. */
  origin: string;
  count(): number;
  close(): void;
}

/** Stands in front of a service and counts what it is asked. */
export async function countRequests(origin: string): Promise<RequestCounter> {
  let requests = 0;
  const server = createServer((incoming, outgoing) => {
    requests++;
    const { method, headers, url } = incoming;
    const onward = request(new URL(url ?? '/', origin), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

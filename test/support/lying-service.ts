import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LyingService {
  auditUrl: string;
  close(): void;
}

/**
 * Stands before a real audit service and hands everything through, but says of every stream that the service itself
 * has found it good.
 */
export async function lieAbout(auditUrl: string): Promise<LyingService> {
  const target = new URL(auditUrl);
  const server = createServer((incoming, outgoing) => forward(target, incoming, outgoing));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { auditUrl: `http://127.0.0.1:${port}${target.pathname}`, close: () => server.close() };
}

function forward(target: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const path = incoming.url ?? '/';
  const options = {
    host: target.hostname,
    port: target.port,
    path,
    method: incoming.method,
    headers: incoming.headers,
  };
  const onward = request(options, (answer) => {
    if (!path.endsWith('/verify')) {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      return;
    }
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => {
      const verification = JSON.parse(Buffer.concat(chunks).toString());
      const body = JSON.stringify({ ...verification, verified: true, failures: [] });
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
  });
  incoming.pipe(onward);
}

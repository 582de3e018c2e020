import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Milliseconds, monotonic. */
  at: number;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** `cut` sends half of the body and breaks the connection, `stall` sends half and then nothing. */
  end?: 'cut' | 'stall' | 'silence' | 'reset';
}

export interface FaultServer {
  url: string;
  requests: ReceivedRequest[];
  close(): Promise<void>;
}

export const json = (value: unknown, more: Partial<Reply> = {}): Reply => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
  ...more,
});

/**
 * Answers each request with the next reply, the last one for ever; a function replies as it likes. It is strict: what
 * it did not expect is a 500 that says so.
 */
export async function startFaultServer(
  ...replies: (Reply | ((request: ReceivedRequest) => Reply))[]
): Promise<FaultServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = incoming;
    const request = { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8'), at: performance.now() };
    requests.push(request);
    const next = replies.length > 1 ? replies.shift() : replies[0];
    const reply = typeof next === 'function' ? next(request) : next;
    send(outgoing, reply ?? { status: 500, body: 'no reply is left' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

function send(outgoing: ServerResponse, { status = 200, headers = {}, body = '', end }: Reply): void {
  if (end === 'silence') return;
  if (end === 'reset') {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  const bytes = Buffer.from(body);
  outgoing.writeHead(status, { 'content-length': bytes.length, ...headers });
  if (end === undefined) {
    outgoing.end(bytes);
    return;
  }
  outgoing.write(bytes.subarray(0, bytes.length >> 1), () => {
    if (end === 'cut') outgoing.socket?.destroy();
  });
}

/** An address at which nothing listens. */
export async function unusedUrl(): Promise<string> {
  const server = await startFaultServer({});
  await server.close();
  return server.url;
}

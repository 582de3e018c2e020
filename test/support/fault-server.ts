import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  bytes: Buffer;
  /** Milliseconds, monotonic. */
  at: number;
  /** What was answered; null until then, and for ever when nothing was. */
  status: number | null;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** One that is iterated is sent chunked, as it comes. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * `cut` sends half of the body and breaks the connection, `stall` sends half and then nothing, `close` sends all of
   * it and ends the connection in order, whatever `content-length` promised.
   */
  end?: 'cut' | 'stall' | 'close' | 'silence' | 'reset';
  /** Written to the connection in place of everything else, for what no HTTP library would send. */
  raw?: string;
}

export type Answer = (request: ReceivedRequest) => Reply | Promise<Reply>;

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
export async function startFaultServer(...replies: (Reply | Answer)[]): Promise<FaultServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = incoming;
    const bytes = Buffer.concat(chunks);
    const body = bytes.toString('utf8');
    const request: ReceivedRequest = { method, path: url, headers, body, bytes, at: performance.now(), status: null };
    requests.push(request);
    const next = replies.length > 1 ? replies.shift() : replies[0];
    const reply = (await (typeof next === 'function' ? next(request) : next)) ?? {
      status: 500,
      body: 'no reply is left',
    };
    if (reply.raw === undefined && reply.end !== 'silence' && reply.end !== 'reset')
      request.status = reply.status ?? 200;
    await send(outgoing, reply);
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

async function send(outgoing: ServerResponse, { raw, ...reply }: Reply): Promise<void> {
  const { status = 200, body = '', end } = reply;
  // Node.js would tell the time of the machine, also where a test sets another.
  const headers = { date: new Date().toUTCString(), ...reply.headers };
  if (raw !== undefined) outgoing.socket?.end(raw);
  if (raw !== undefined || end === 'silence') return;
  if (end === 'reset') {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  if (isIterated(body)) {
    outgoing.writeHead(status, headers);
    // A client that hangs up in the middle is one of the cases.
    await pipeline(body, outgoing).catch(() => undefined);
    return;
  }
  const bytes = Buffer.from(body);
  outgoing.writeHead(status, { 'content-length': bytes.length, ...headers });
  if (end === undefined) outgoing.end(bytes);
  else if (end === 'close') outgoing.write(bytes, () => outgoing.socket?.end());
  else
    outgoing.write(bytes.subarray(0, bytes.length >> 1), () => {
      if (end === 'cut') outgoing.socket?.destroy();
    });
}

function isIterated(body: NonNullable<Reply['body']>): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

/** An address at which nothing listens. */
export async function unusedUrl(): Promise<string> {
  const server = await startFaultServer({});
  await server.close();
  return server.url;
}

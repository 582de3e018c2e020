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
  /** Monotonic time in milliseconds. */
  at: number;
  /** Status of the answer; null until then, and without an answer. */
  status: number | null;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** Body; an iterable is sent in chunks as it yields them. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * `cut` sends half of the body and breaks the connection; `stall` sends half and then nothing; `close` sends the
   * whole body and closes the connection normally, whatever `content-length` states.
   */
  end?: 'cut' | 'stall' | 'close' | 'silence' | 'reset';
  /** Bytes to write instead of an HTTP answer. */
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
 * Answers each request with the next reply, and repeats the last one; a function computes the reply. An unexpected
 * request gets a 500 that describes it.
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
  // Node.js would send the machine's time even if a test sets another.
  const headers = { date: new Date().toUTCString(), ...reply.headers };
  if (raw !== undefined) outgoing.socket?.end(raw);
  if (raw !== undefined || end === 'silence') return;
  if (end === 'reset') {
    outgoing.socket?.resetAndDestroy();
    return;
  }
  if (isIterated(body)) {
    outgoing.writeHead(status, headers);
    // Some tests hang up during the body.
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

/** Returns an address without a listener. */
export async function unusedUrl(): Promise<string> {
  const server = await startFaultServer({});
  await server.close();
  return server.url;
}

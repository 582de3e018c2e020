import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Limit } from './rate-limits.ts';

export interface LyingService {
  auditUrl: string;
  /** As they came: `GET /audit/streams/?limit=500`. */
  requests: string[];
  close(): void;
}

/** What is said instead of an answer that is JSON. */
export type Lie = (path: string, answer: Json) => Json | undefined;
// biome-ignore lint/suspicious/noExplicitAny: any answer of the service, to be changed in any way.
type Json = any;

/** Says of every stream that the service itself has found it good. */
export const claimVerified: Lie = (path, answer) =>
  path.endsWith('/verify') ? { ...answer, verified: true, failures: [] } : undefined;

/** Says a summary that nobody can read, so that `agreement` stays unproved. */
export const garbleSummary: Lie = (path) => (path.endsWith('/summary') ? [] : undefined);

/**
 * Stands before a real audit service and hands everything through as it is, but for the answers that `lie` has
 * something to say about.
 *
 * @param auditUrl its address, or what says it at each request.
 * @param limit is asked at each request; what it turns away is answered with 429.
 */
export async function lieAbout(
  auditUrl: string | (() => string),
  lie: Lie,
  limit: Limit = () => null,
): Promise<LyingService> {
  const target = () => new URL(typeof auditUrl === 'string' ? auditUrl : auditUrl());
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    const retryAfter = limit(performance.now());
    if (retryAfter === null) forward(target(), lie, incoming, outgoing);
    else refuse(outgoing, retryAfter);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    auditUrl: `http://127.0.0.1:${port}${target().pathname}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function refuse(outgoing: ServerResponse, retryAfter: number): void {
  outgoing.writeHead(429, { 'retry-after': String(retryAfter), 'content-type': 'application/json' });
  outgoing.end('{"detail":"too many requests"}');
}

function forward(target: URL, lie: Lie, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const path = incoming.url ?? '/';
  const options = {
    host: target.hostname,
    port: target.port,
    path,
    method: incoming.method,
    headers: incoming.headers,
  };
  const onward = request(options, (answer) => {
    // Packages are handed through as they come; the other answers are short.
    if (!/json/.test(answer.headers['content-type'] ?? '') || /\/json$/.test(path)) {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
      return;
    }
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => {
      const body = Buffer.concat(chunks);
      const instead = lie(path, JSON.parse(body.toString()));
      const { 'content-length': _length, 'transfer-encoding': _coding, ...headers } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, headers).end(instead === undefined ? body : JSON.stringify(instead));
    });
  });
  incoming.pipe(onward);
}

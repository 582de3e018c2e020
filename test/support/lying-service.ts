import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Limit } from './rate-limits.ts';

export interface LyingService {
  auditUrl: string;
  /** Requests in order, such as `GET /audit/streams/?limit=500`. */
  requests: string[];
  close(): void;
}

/** Replaces a JSON answer; undefined keeps it. */
export type Lie = (path: string, answer: Json) => Json | undefined;
// biome-ignore lint/suspicious/noExplicitAny: tests change arbitrary members of the service's answers.
type Json = any;

/** Claims that the service verified every stream. */
export const claimVerified: Lie = (path, answer) =>
  path.endsWith('/verify') ? { ...answer, verified: true, failures: [] } : undefined;

/** Replaces the summary with an unreadable one, so that `agreement` stays unproved. */
export const garbleSummary: Lie = (path) => (path.endsWith('/summary') ? [] : undefined);

/**
 * Starts a proxy for a real audit service that changes only the answers for which `lie` returns one.
 * @param auditUrl address of the service, or a function that is called for each request.
 * @param limit checks each request; refused requests get a 429.
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
    // Packages are streamed; the other answers are short.
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

import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';

/** Errors of Node's parser, by its code: status, our code, and the detail. */
const REFUSED: Record<string, readonly [status: number, code: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'the request was not there in time'],
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'the request line and the headers have more than 64 KiB'],
};
const OTHERS = [400, 'bad_request', 'this is not a request of HTTP/1.1'] as const;

/** Answers what never became a request with problem details, and ends the connection. */
export function answerParserError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, detail] = REFUSED[error.code] ?? OTHERS;
  const requestId = randomUUID();
  const title = STATUS_CODES[status] ?? 'Error';
  const body = JSON.stringify({ type: 'about:blank', title, status, code, detail, request_id: requestId });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { RAW_HTTP, serveRaw } from '../raw-http.ts';
import type { Cluster } from './cluster.ts';

export type KubeIncoming = IncomingMessage | Http2ServerRequest;
export type KubeOutgoing = ServerResponse | Http2ServerResponse;

/** As Go's crypto/tls offers them. */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ...['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA'],
].join(':');
/** As the server of Kubernetes says them. */
const HTTP2 = { maxConcurrentStreams: 100, maxFrameSize: 1_048_576, maxHeaderListSize: 1_048_896 };
const MAX_HEADER_BYTES = 64 * 2 ** 10;
const HANDSHAKE_BYTE = 0x16;
/** What Go says to who speaks HTTP where it speaks TLS. */
const NOT_TLS = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';
const LIKE_HTTP = /^(GET \/|HEAD |POST |PUT \/|OPTIO)/;

/** A server that speaks TLS and HTTP as one written in Go does. It is to be told to listen. */
export function kubeListener(
  { tls, clientAuthority }: Cluster,
  onRequest: (request: KubeIncoming, response: KubeOutgoing) => void,
): { server: Server; end(): void } {
  const secure = createSecureServer({
    ...{ ...RAW_HTTP, maxHeaderSize: MAX_HEADER_BYTES, allowHTTP1: true, settings: HTTP2 },
    ...{ cert: tls.certificate, key: tls.key, ca: clientAuthority, requestCert: true, rejectUnauthorized: false },
    ...{ minVersion: 'TLSv1.2', ciphers: CIPHERS, ecdhCurve: 'X25519:P-256:P-384:P-521' },
  });
  secure.on('request', onRequest);
  secure.on('sessionError', () => {});
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  serveRaw(secure as unknown as HttpServer, { broken });
  const server = createServer((socket) => {
    socket.once('readable', () => welcome(socket, (found) => secure.emit('connection', found)));
  });
  return { server, end: () => secure.close() };
}

function welcome(socket: Socket, pass: (socket: Socket) => void): void {
  const head: Buffer | null = socket.read();
  if (head === null) return;
  if (head[0] === HANDSHAKE_BYTE) {
    socket.unshift(head);
    pass(socket);
  } else if (LIKE_HTTP.test(head.toString('latin1', 0, 8))) socket.end(NOT_TLS, () => socket.destroy());
  else socket.destroy();
}

/** See net/http/server.go. */
function broken(code: string): string {
  const said = code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  return `HTTP/1.1 ${said}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${said}`;
}

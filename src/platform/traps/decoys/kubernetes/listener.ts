import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { RAW_HTTP, serveRaw } from '../raw-http.ts';
import type { Cluster } from './cluster.ts';

export type KubeIncoming = IncomingMessage | Http2ServerRequest;
export type KubeOutgoing = ServerResponse | Http2ServerResponse;

/** Cipher suites that Go's crypto/tls offers. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-RSA-AES256-SHA',
].join(':');
/** HTTP/2 settings of the Kubernetes API server. */
const HTTP2 = { maxConcurrentStreams: 100, maxFrameSize: 1_048_576, maxHeaderListSize: 1_048_896 };
const MAX_HEADER_BYTES = 64 * 2 ** 10;
const HANDSHAKE_BYTE = 0x16;
/** Go's answer to HTTP on a TLS port. */
const NOT_TLS = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';
const LIKE_HTTP = /^(GET \/|HEAD |POST |PUT \/|OPTIO)/;

/** Returns a server whose TLS and HTTP behave as in Go. The caller makes it listen. */
export function kubeListener(
  { tls, clientAuthority }: Cluster,
  onRequest: (request: KubeIncoming, response: KubeOutgoing) => void,
): Server {
  const http2 = createHttp2Server({ settings: HTTP2 });
  const http1 = createHttpServer({ ...RAW_HTTP, maxHeaderSize: MAX_HEADER_BYTES });
  serveRaw(http1, { broken });
  http1.on('request', onRequest);
  http2.on('request', onRequest);
  http2.on('sessionError', () => {});
  const secure = createTlsServer({
    cert: tls.certificate,
    key: tls.key,
    ca: clientAuthority,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    ecdhCurve: 'X25519:P-256:P-384:P-521',
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  secure.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') http2.emit('connection', socket);
    else takeHead(socket, () => http1.emit('connection', socket));
  });
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  return createServer((socket) => {
    socket.once('readable', () => welcome(socket, (found) => secure.emit('connection', found)));
  });
}

/** Reads the head of the first request, and passes the connection on if Go would accept the head. */
function takeHead(socket: Socket, pass: () => void): void {
  let head: Buffer = Buffer.alloc(0);
  let isBegun = false;
  const look = () => {
    const before = Math.max(0, head.length - 3);
    for (let piece = socket.read(); piece !== null; piece = socket.read()) head = Buffer.concat([head, piece]);
    const news = head.toString('latin1', before);
    // The first line and the whole head are each judged once, rather than with each byte from a slow client.
    const isTime = isBegun ? /\n\r?\n/.test(news) : news.includes('\n');
    isBegun ||= isTime;
    let judged = isTime ? judgeHead(head.toString('latin1')) : 'more';
    if (judged === 'more' && head.length > MAX_HEADER_BYTES) judged = { refused: broken('HPE_HEADER_OVERFLOW') };
    if (judged === 'more') return;
    socket.off('readable', look);
    if (judged === 'fits') {
      socket.unshift(head);
      pass();
    } else socket.end(judged.refused, 'latin1', () => socket.destroy());
  };
  socket.on('error', () => socket.destroy());
  socket.on('readable', look);
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

function broken(code: string): string {
  return refusedByGo(code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request');
}

/** Returns an answer that Go gives instead of calling a handler. See net/http/server.go. */
function refusedByGo(status: string, text?: string): string {
  const said = text === undefined ? status : `${status}: ${text}`;
  return `HTTP/1.1 ${said}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${said}`;
}

const BAD_REQUEST = '400 Bad Request';
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const VERSION = /^HTTP\/(\d)\.(\d)$/;
/** Valid characters, as in httpguts.ValidHostHeader. */
const HOST = /^[!$%&'()*+,\-./:;=[\]_~\w]*$/;

/**
 * Judges the start of a request as Go reads it, a line at a time.
 * @param head received so far, one character per byte.
 * @returns the refusal; `more` if a line is missing; `fits` if a handler has to answer.
 */
function judgeHead(head: string): { refused: string } | 'more' | 'fits' {
  const lines = head.split('\n');
  // Text after the last line end is an incomplete line.
  lines.pop();
  const [first, ...rest] = lines.map((line) => line.replace(/\r$/, ''));
  if (first === undefined) return 'more';
  const [method = '', target, ...protocol] = first.split(' ');
  const [, major, minor] = VERSION.exec(protocol.join(' ')) ?? [];
  if (target === undefined || !TOKEN.test(method) || major === undefined) return { refused: refusedByGo(BAD_REQUEST) };
  const isUpgrade = first === 'PRI * HTTP/2.0';
  const end = rest.indexOf('');
  if (end === -1) return 'more';
  if (major !== '1' && !isUpgrade)
    return { refused: refusedByGo('505 HTTP Version Not Supported', 'unsupported protocol version') };
  const wrong = wrongHeader(rest.slice(0, end), minor === '0' || method === 'CONNECT' || isUpgrade);
  return wrong === null ? 'fits' : { refused: refusedByGo(BAD_REQUEST, wrong) };
}

/** Returns the error that Go finds in headers that other servers accept; null if there is none. */
function wrongHeader(lines: readonly string[], mayLackHost: boolean): string | null {
  const names = lines.map((line) => line.split(':', 1)[0] ?? '');
  const host = lines.find((line) => /^host:/i.test(line));
  if (host === undefined && !mayLackHost) return 'missing required Host header';
  if (host !== undefined && !HOST.test(host.slice('host:'.length).trim())) return 'malformed Host header';
  return names.some((name) => /^[\w-]+ /.test(name)) ? 'invalid header name' : null;
}

import { randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { type CertificateNames, type DecoyTls, tlsOf } from '../certificates.ts';
import type { Decoy, DecoyDeps, FoundTrap, StartDecoy } from '../decoy.ts';
import { LimitedConnections } from '../limits.ts';
import { listenAs, listeningPlace, localPlace, publicHostOf, remoteAddressOf } from '../place.ts';
import { probeHttp } from '../raw-http.ts';
import { type ConnectionDeps, type Peer, serveConnection } from './connection.ts';
import { type Identity, identify } from './identity.ts';
import { partOf, type Site, type SiteOutcome } from './site.ts';
import { NOWHERE, SITES } from './sites.ts';
import type { WebRequest } from './web-request.ts';

/** Limits of connections, with nginx's defaults of `client_header_timeout` and `keepalive_timeout`. */
const LIMITS = {
  atOnce: 2048,
  ofOneAddress: 1024,
  firstByteMs: 60_000,
  idleMs: 75_000,
  wholeMs: 3_600_000,
  bytes: 64 * 1024 * 1024,
};
/**
 * Unit to which the time of an answer to a presented identity is rounded up, so that known and unknown ones take
 * equally long.
 */
const STEP_MS = 50;

/**
 * Imitates services inside a company behind nginx: an API, a package registry, container images, repositories, and
 * tools for agents.
 */
export const startWeb: StartDecoy = async (settings, folder, deps): Promise<Decoy> => {
  const tls =
    settings.isPlain === true
      ? null
      : await tlsOf(settings, folder, { now: deps.clock(), draw: () => drawNames(publicHostOf(settings)) });
  const serving: ConnectionDeps = {
    clock: deps.clock,
    passesOn: (path) => siteOf(path).passesOn,
    answer: (request, peer) => answerRequest(request, peer, deps),
    see: async (request, peer) => void (await noticed(request, peer, deps)),
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  const secure = tls === null ? null : tlsServer(tls, serving);
  server.on('connection', (socket: Socket) =>
    secure === null ? serveConnection(socket, peerOf(socket), serving) : takeEither(socket, secure, serving),
  );
  const connections = new LimitedConnections(server, LIMITS);
  await listenAs(server, settings);
  const place = listeningPlace(settings, server, tls?.authority ?? null);
  return {
    place: tls === null ? { ...place, isPlain: true } : place,
    probe: (trap, userAgent) => probeWeb({ ...localPlace(settings, server), isPlain: tls === null }, trap, userAgent),
    close: () => connections.close(),
  };
};

/** Returns a TLS server with the settings of nginx in Debian. */
function tlsServer({ certificate, key }: DecoyTls, serving: ConnectionDeps): TlsServer {
  const server = createTlsServer({
    cert: certificate,
    key,
    ciphers: 'HIGH:!aNULL:!MD5',
    honorCipherOrder: true,
    ecdhCurve: 'auto',
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1', 'http/1.0', 'http/0.9'],
    handshakeTimeout: 60_000,
    sessionTimeout: 300,
    allowHalfOpen: true,
  });
  server.on('secureConnection', (socket) => serveConnection(socket, peerOf(socket), serving));
  // A failed handshake ends only its connection.
  server.on('tlsClientError', (_, socket) => socket.destroy());
  return server;
}

/** Distinguishes TLS from plain HTTP by the first byte, as nginx does in ngx_http_ssl_handshake. */
function takeEither(socket: Socket, secure: TlsServer, serving: ConnectionDeps): void {
  const end = () => socket.end();
  socket.once('end', end);
  socket.once('data', (bytes: Buffer) => {
    socket.off('end', end);
    socket.pause();
    socket.unshift(bytes);
    const first = bytes[0] ?? 0;
    if (first === 0x16 || first >= 0x80) secure.emit('connection', socket);
    else serveConnection(socket, { ...peerOf(socket), isPlainToTls: true }, serving);
  });
}

function peerOf(socket: Socket): Peer {
  return { address: remoteAddressOf(socket), isPlainToTls: false };
}

async function answerRequest(request: WebRequest, peer: Peer, deps: DecoyDeps): Promise<SiteOutcome['answer']> {
  const began = performance.now();
  const { outcome, identity } = await noticed(request, peer, deps);
  if (!identity.isShown) return outcome.answer;
  const passed = performance.now() - began;
  await setTimeout(STEP_MS * Math.ceil((passed + 1) / STEP_MS) - passed);
  return outcome.answer;
}

const siteOf = (path: string): Site => SITES.find(({ takes }) => takes(path)) ?? NOWHERE;

/** Answers a request, after recording its use of a trap. */
async function noticed(request: WebRequest, peer: Peer, deps: DecoyDeps) {
  const site = siteOf(request.path);
  const [identity, picture] = await Promise.all([identify(request, deps.find), pictureOf(request, deps)]);
  const outcome = site.answer(request, identity.isVerified ? identity.trap : null);
  const use = { request, peer, site, outcome };
  if (picture !== null) await record(use, { isShown: false, trap: picture, isVerified: false }, deps);
  if (identity.trap !== null) await record(use, identity, deps);
  return { outcome, identity };
}

/** Returns the trap whose name is that of an image. */
function pictureOf({ path }: WebRequest, { find }: DecoyDeps) {
  const [, value] = /^\/assets\/([^/]+)\.gif$/.exec(path) ?? [];
  return value === undefined ? null : find([{ kind: 'path', value }]);
}

async function record(
  { request, peer, site, outcome }: { request: WebRequest; peer: Peer; site: Site; outcome: SiteOutcome },
  { trap, isVerified, isShown }: Identity,
  { record: keep, clock }: DecoyDeps,
): Promise<void> {
  if (trap === null) return;
  const { depth, action } = outcome;
  await keep({
    trapNo: trap.trapNo,
    channel: site.channel,
    service: site.service,
    region: null,
    sourceEventId: null,
    // Presenting an identity to a public page counts as trying it.
    depth: isShown && depth === 'read' ? 'validated' : depth,
    action,
    eventTime: clock().toISOString(),
    sourceIp: peer.address,
    userAgent: request.headers.get('user-agent') ?? null,
    authVerified: isShown ? isVerified : null,
    request: Buffer.concat([request.head, request.body]),
  });
}

/** Draws names as in a company's own certificates. */
function drawNames(host: string): CertificateNames {
  const company = randomBytes(3).toString('hex');
  return { subject: `CN=${host}`, issuer: `CN=${company} Internal CA,O=${company}`, hosts: [host], key: 'rsa' };
}

/** Address of the decoy. */
interface Listening {
  host: string;
  port: number;
  isPlain: boolean;
}

/** Uses a trap as a client would. @throws Error if there is no proper answer. */
async function probeWeb(listening: Listening, trap: FoundTrap, userAgent: string): Promise<void> {
  const { path, method = 'GET', authorization, body } = requestFor(trap);
  const headers = {
    'user-agent': userAgent,
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  const status = await probeHttp({ ...listening, path, method, headers, body, late: 'The decoy does not answer.' });
  if (status !== 200 && status !== 403) throw new Error(`The decoy answered ${status} to its own trap.`);
}

interface Probe {
  path: string;
  method?: string;
  authorization?: string;
  body?: string;
}

function requestFor(trap: FoundTrap): Probe {
  const part = (name: string) => partOf(trap, name, '');
  const bearer = `Bearer ${part('token')}`;
  const basic = `Basic ${Buffer.from(`${part('username')}:${part('password')}`).toString('base64')}`;
  switch (trap.type) {
    case 'npm_token':
      return { path: '/npm/-/whoami', authorization: bearer };
    case 'docker_registry':
      return { path: '/v2/', authorization: basic };
    case 'git_https':
      return { path: `/${part('repository')}.git/info/refs?service=git-upload-pack`, authorization: basic };
    case 'mcp_server':
      return {
        path: '/mcp',
        method: 'POST',
        authorization: bearer,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      };
    case 'web_bug':
      return { path: `/assets/${part('token')}.gif` };
    default:
      return { path: '/api/v1/', authorization: bearer };
  }
}

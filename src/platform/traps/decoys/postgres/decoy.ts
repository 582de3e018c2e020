import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { messageOf } from '../../../../core/errors.ts';
import type { TrapUse } from '../../use.ts';
import { madeOnce, tlsOf } from '../certificates.ts';
import type { DecoyDeps, FoundTrap, StartDecoy } from '../decoy.ts';
import { Incoming, sendTo } from '../incoming.ts';
import { type ConnectionLimits, LimitedConnections } from '../limits.ts';
import { randomHostName } from '../names.ts';
import { listenAs, listeningPlace, localPlace, remoteAddressOf } from '../place.ts';
import { authenticate, type LoginDeps } from './login.ts';
import { errorMessage, fatalError, type PostgresError, toInt32, toMessage } from './messages.ts';
import { proofOf, scramKeys, scramNonce } from './scram.ts';
import { serveSession } from './session.ts';
import { readStartup, type Startup } from './startup.ts';

/** Time limit of a login, as authentication_timeout. */
const LOGIN_MS = 60_000;
const LIMITS: ConnectionLimits = {
  atOnce: 1024,
  ofOneAddress: 256,
  firstByteMs: LOGIN_MS,
  idleMs: 30 * 60_000,
  wholeMs: 12 * 60 * 60_000,
  bytes: 256 * 1024 * 1024,
};
const LONGEST_ACTION = 300;
/** Minimum duration of a refusal, so that it does not reveal whether a use was recorded first. */
const REFUSAL_MS = 20;

interface PostgresDeps extends LoginDeps {
  deps: DecoyDeps;
  secureContext: SecureContext;
}

/** Imitates PostgreSQL on Debian 12, in which a planted user has almost no permissions. */
export const startPostgresDecoy: StartDecoy = async (settings, folder, deps) => {
  const draw = () => {
    const host = randomHostName('db');
    // Certificate as made by Debian's package ssl-cert, which Debian's server presents by default.
    return { subject: `CN=${host}`, issuer: null, hosts: [host], key: 'rsa' as const };
  };
  const { certificate, key, authority } = await tlsOf(settings, folder, { now: deps.clock(), draw });
  const salt = await madeOnce(folder, 'salts.key', async () => randomBytes(32).toString('hex'));
  const parts: PostgresDeps = {
    deps,
    find: deps.find,
    saltKey: Buffer.from(salt, 'hex'),
    certificateHash: endPointHash(certificate),
    secureContext: createSecureContext({
      cert: certificate,
      key,
      minVersion: 'TLSv1.2',
      honorCipherOrder: true,
      ecdhCurve: 'prime256v1',
      ciphers: 'HIGH:MEDIUM:+3DES:!aNULL',
    }),
  };
  const server = createServer((socket) => void serve(socket, parts));
  const connections = new LimitedConnections(server, LIMITS);
  await listenAs(server, settings);
  return {
    place: listeningPlace(settings, server, authority),
    probe: (trap, userAgent) => probePostgres(localPlace(settings, server), trap, userAgent),
    close: () => connections.close(),
  };
};

/** Returns the certificate hash by RFC 5929 section 4.1, in which SHA-256 replaces MD5 and SHA-1. */
function endPointHash(pem: string): Buffer {
  const certificate = new X509Certificate(pem);
  const used = /sha(384|512)/i.exec(certificate.signatureAlgorithm ?? '')?.[1] ?? '256';
  return createHash(`sha${used}`).update(certificate.raw).digest();
}

async function serve(socket: Socket, parts: PostgresDeps): Promise<void> {
  const tooLong = setTimeout(() => socket.destroy(), LOGIN_MS).unref();
  let stream = socket;
  try {
    const sourceIp = remoteAddressOf(socket);
    const startup = await readStartup(socket, parts.secureContext);
    if (startup === null) return;
    stream = startup.stream;
    await logIn(startup, { ...parts, sourceIp, done: () => clearTimeout(tooLong) });
  } catch (error) {
    parts.deps.log.error({ reason: messageOf(error) }, 'a connection to a decoy of PostgreSQL broke');
  } finally {
    clearTimeout(tooLong);
    stream.destroySoon();
  }
}

async function logIn(startup: Startup, parts: PostgresDeps & { sourceIp: string | null; done: () => void }) {
  const { deps, sourceIp } = parts;
  const { stream, user, database, packet } = startup;
  const { trap, verified, answer } = await authenticate(startup, parts);
  const base = { trap, userAgent: startup.parameters.get('application_name') || null, sourceIp, deps };
  const named = `user=${user} database=${database}`;
  // Action in the words of the server's log.
  const action =
    verified === null
      ? `connection received: ${named}`
      : verified
        ? `connection authorized: ${named}`
        : `password authentication failed for user "${user}"`;
  const since = performance.now();
  await record(base, { depth: 'validated', authVerified: verified, action, request: packet });
  if (verified === false) await wait(Math.max(0, REFUSAL_MS - (performance.now() - since)));
  if (answer !== null) await sendTo(stream, answer);
  if (verified !== true || trap === null) return;
  if (database !== trap.credential['database']) {
    await sendTo(stream, errorMessage(noDatabase(database)));
    return;
  }
  parts.done();
  await serveSession(startup, (query, request) =>
    record(base, { depth: 'used', authVerified: true, action: query.slice(0, LONGEST_ACTION), request }),
  );
}

interface Client {
  trap: FoundTrap | null;
  userAgent: string | null;
  sourceIp: string | null;
  deps: DecoyDeps;
}

async function record(
  { trap, deps, sourceIp, userAgent }: Client,
  seen: Pick<TrapUse, 'depth' | 'authVerified' | 'action' | 'request'>,
): Promise<void> {
  if (trap === null) return;
  await deps.record({
    trapNo: trap.trapNo,
    channel: 'postgres',
    eventTime: deps.clock().toISOString(),
    sourceEventId: null,
    sourceIp,
    userAgent,
    service: 'postgresql',
    region: null,
    ...seen,
  });
}

function noDatabase(database: string): PostgresError {
  return fatalError('3D000', `database "${database}" does not exist`, 'postinit.c:948 InitPostgres');
}

const PATIENCE_MS = 10_000;

/**
 * Logs in with the credentials of a trap under an application name, and disconnects. @throws Error with a readable
 * message.
 */
export async function probePostgres(
  at: { host: string; port: number },
  { credential }: FoundTrap,
  applicationName: string,
): Promise<void> {
  const socket = connect(at);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const incoming = new Incoming(socket);
  try {
    await sendTo(socket, startupPacket(credential, applicationName));
    await answer(incoming, 10);
    const first = `n=,r=${scramNonce()}`;
    const words = Buffer.from(`n,,${first}`);
    await sendTo(socket, toMessage('p', 'SCRAM-SHA-256', toInt32(words.length), words));
    const challenge = await answer(incoming, 11);
    const [, nonce = '', salt = '', iterations = ''] = /^r=([^,]+),s=([^,]+),i=(\d+)$/.exec(challenge) ?? [];
    const keys = await scramKeys(String(credential['password']), Buffer.from(salt, 'base64'), Number(iterations));
    const final = `c=biws,r=${nonce}`;
    const proof = proofOf(keys, `${first},${challenge},${final}`);
    await sendTo(socket, toMessage('p', Buffer.from(`${final},p=${proof}`)));
    await answer(incoming, 12);
    await sendTo(socket, toMessage('X'));
  } finally {
    leave(socket);
  }
}

function leave(socket: Socket): void {
  socket.on('error', () => {});
  socket.destroySoon();
}

function startupPacket(credential: FoundTrap['credential'], applicationName: string): Buffer {
  const named = { user: credential['user'], database: credential['database'], application_name: applicationName };
  const text = Object.entries(named).map(([name, value]) => `${name}\0${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  return Buffer.concat([toInt32(body.length + 8), toInt32(0x30000), body]);
}

async function answer(incoming: Incoming, kind: number): Promise<string> {
  const head = await incoming.take(5);
  const body = head === null ? null : await incoming.take(head.readUInt32BE(1) - 4);
  if (head === null || body === null) throw new Error('The decoy ended the connection of a login.');
  if (head[0] !== 0x52 || body.readInt32BE(0) !== kind) throw new Error('The decoy did not take a login as it should.');
  return body.toString('latin1', 4);
}

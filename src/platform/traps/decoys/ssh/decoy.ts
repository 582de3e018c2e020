import { generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { messageOf } from '../../../../core/errors.ts';
import type { DecoyDeps, FoundTrap, StartDecoy } from '../decoy.ts';
import { Incoming, sendTo } from '../incoming.ts';
import { type ConnectionLimits, LimitedConnections } from '../limits.ts';
import { listenAs, listeningPlace, localPlace, remoteAddressOf } from '../place.ts';
import { refuseLogins, type ShownKey } from './authentication.ts';
import { packetCipher } from './ciphers.ts';
import { agreeOn25519, exchangeKeys, type Identifications, keyMaker, publicBytes } from './exchange.ts';
import { type HostKey, hostKeysIn } from './host-keys.ts';
import { kexInit, SSH, SshTransport } from './transport.ts';
import { SshFormatError, SshReader, sshMessage, sshString } from './wire.ts';

/** Identification of OpenSSH in Debian 12. */
const IDENTIFICATION = 'SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u10';
/** Time limit of a login, as LoginGraceTime. */
const LOGIN_MS = 120_000;
const LIMITS: ConnectionLimits = {
  atOnce: 1024,
  ofOneAddress: 256,
  bytes: 1024 * 1024,
  firstByteMs: LOGIN_MS,
  idleMs: LOGIN_MS,
  wholeMs: LOGIN_MS,
};
/** Maximum length of a line, as SSH_MAX_BANNER_LEN. */
const LONGEST_LINE = 8192;

/** Imitates OpenSSH on Debian 12 with public key logins only, and refuses every key. */
export const startSshDecoy: StartDecoy = async (settings, folder, deps) => {
  const hostKeys = await hostKeysIn(folder);
  const server = createServer({ noDelay: true }, (socket) => void serve(socket, hostKeys, deps));
  const connections = new LimitedConnections(server, LIMITS);
  await listenAs(server, settings);
  return {
    place: listeningPlace(settings, server, null),
    probe: (trap, userAgent) => probeSsh(localPlace(settings, server), trap, userAgent),
    close: () => connections.close(),
  };
};

async function serve(socket: Socket, hostKeys: readonly HostKey[], deps: DecoyDeps): Promise<void> {
  try {
    await converse(socket, hostKeys, deps);
  } catch (error) {
    if (!(error instanceof SshFormatError))
      deps.log.error({ reason: messageOf(error) }, 'a connection to a decoy of OpenSSH broke');
  } finally {
    socket.destroySoon();
  }
}

async function converse(socket: Socket, hostKeys: readonly HostKey[], deps: DecoyDeps): Promise<void> {
  const sourceIp = remoteAddressOf(socket);
  const incoming = new Incoming(socket);
  await sendTo(socket, `${IDENTIFICATION}\r\n`);
  const client = await readIdentification(socket, incoming);
  if (client === null) return;
  const transport = new SshTransport(socket, incoming);
  const identifications: Identifications = { client, server: IDENTIFICATION };
  const exchange = { transport, identifications, hostKeys };
  const session = await exchangeKeys({ ...exchange, before: null, begun: null });
  if (session === null) return;
  const userAgent = client.replace(/^SSH-[\d.]+-/, '') || null;
  await refuseLogins({
    transport,
    session,
    delaySeed: Buffer.concat(hostKeys.map(({ blob }) => blob)),
    find: (value) => deps.find([{ kind: 'ssh_fingerprint', value }]),
    onKey: (key) => deps.record(useOf(key, { sourceIp, userAgent, now: deps.clock() })),
    renew: async (begun) => (await exchangeKeys({ ...exchange, before: session, begun })) !== null,
  });
}

/** Returns the client's identification without its line end; null if it is invalid, after telling the client so. */
async function readIdentification(socket: Socket, incoming: Incoming): Promise<string | null> {
  const line = await incoming.line(LONGEST_LINE);
  if (line === null) return null;
  const text = line.toString('latin1').replace(/\r?\n$/, '');
  const [, major, minor] = /^SSH-(\d+)\.(\d+)-./.exec(text) ?? [];
  const isLine = line.at(-1) === 0x0a;
  if (isLine && (major === '2' || (major === '1' && minor === '99'))) return text;
  const isOther = isLine && major !== undefined;
  await sendTo(socket, isOther ? 'Protocol major versions differ.\r\n' : 'Invalid SSH identification string.\r\n');
  return null;
}

function useOf(
  { trap, user, verified, request }: ShownKey,
  { sourceIp, userAgent, now }: { sourceIp: string | null; userAgent: string | null; now: Date },
) {
  return {
    trapNo: trap.trapNo,
    channel: 'ssh' as const,
    depth: 'validated' as const,
    eventTime: now.toISOString(),
    sourceEventId: null,
    sourceIp,
    userAgent,
    service: 'ssh',
    region: null,
    // Action in the words of the server's log.
    action: `${verified === null ? 'Postponed' : 'Failed'} publickey for ${user}`,
    authVerified: verified,
    request,
  };
}

const PATIENCE_MS = 10_000;
const CIPHER = 'aes256-gcm@openssh.com';
const LISTS = {
  kex: ['curve25519-sha256'],
  hostKey: ['ssh-ed25519'],
  cipher: [CIPHER],
  mac: ['hmac-sha2-256'],
  compression: ['none'],
};

/** Presents the key of a trap under a client name, and disconnects. @throws Error with a readable message. */
async function probeSsh(at: { host: string; port: number }, trap: FoundTrap, name: string): Promise<void> {
  const socket = connect(at);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const incoming = new Incoming(socket);
  try {
    const client = `SSH-2.0-${name}`;
    await sendTo(socket, `${client}\r\n`);
    const server = (await incoming.line(512))?.toString('latin1').trimEnd() ?? '';
    const transport = new SshTransport(socket, incoming);
    await agreeAsClient(transport, { client, server });
    await transport.send(sshMessage(SSH.serviceRequest, sshString('ssh-userauth')));
    await expected(transport, SSH.serviceAccept);
    const [algorithm = '', blob = ''] = String(trap.credential['public_key']).split(' ');
    const type = algorithm === 'ssh-rsa' ? 'rsa-sha2-512' : algorithm;
    const query = [...[String(trap.credential['user']), 'ssh-connection', 'publickey'].map(sshString), Buffer.alloc(1)];
    await transport.send(
      sshMessage(SSH.authRequest, ...query, sshString(type), sshString(Buffer.from(blob, 'base64'))),
    );
    await expected(transport, SSH.keyIsOk);
  } finally {
    socket.on('error', () => {});
    socket.destroySoon();
  }
}

async function agreeAsClient(transport: SshTransport, { client, server }: { client: string; server: string }) {
  const own = kexInit(randomBytes(16), LISTS);
  const keys = generateKeyPairSync('x25519');
  const ownPublic = publicBytes(keys.publicKey);
  await transport.send(own, sshMessage(SSH.ecdhInit, sshString(ownPublic)));
  const theirs = await expected(transport, SSH.kexInit);
  const reply = new SshReader(await expected(transport, SSH.ecdhReply));
  const [hostKey, serverPublic] = [reply.bytes(), reply.bytes()];
  const shared = agreeOn25519(keys, serverPublic);
  const fields = [client, server, own, theirs, hostKey, ownPublic, serverPublic].map(sshString);
  const hashed = hash('sha256', Buffer.concat([...fields, shared.secret]), 'buffer');
  const keysOf = keyMaker(shared, hashed, hashed);
  await transport.send(sshMessage(SSH.newKeys));
  transport.renewSealing(packetCipher(CIPHER, '', keysOf('ACE')));
  await expected(transport, SSH.newKeys);
  transport.renewOpening(packetCipher(CIPHER, '', keysOf('BDF')));
}

async function expected(transport: SshTransport, type: number): Promise<Buffer> {
  const payload = await transport.read();
  if (payload?.[0] !== type) throw new Error('The decoy did not take a key as it should.');
  return payload;
}

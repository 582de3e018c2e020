import { generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import type { FoundTrap } from '../decoy.ts';
import { Incoming, sendTo } from '../incoming.ts';
import { packetCipher } from './ciphers.ts';
import { agreeOn25519, keyMaker, publicBytes } from './exchange.ts';
import { kexInit, SSH, SshTransport } from './transport.ts';
import { SshReader, sshMessage, sshString } from './wire.ts';

const PATIENCE_MS = 10_000;
const CIPHER = 'aes256-gcm@openssh.com';
const LISTS = {
  kex: ['curve25519-sha256'],
  hostKey: ['ssh-ed25519'],
  cipher: [CIPHER],
  mac: ['hmac-sha2-256'],
  compression: ['none'],
};

/** Shows the key of a trap, under a name for the client, and leaves. @throws Error in words. */
export async function probeSsh(at: { host: string; port: number }, trap: FoundTrap, name: string): Promise<void> {
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

import {
  createECDH,
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { type DirectionKeys, packetCipher } from './ciphers.ts';
import type { HostKey } from './host-keys.ts';
import { type KexLists, type KexOffer, kexInit, readKexInit, SSH, type SshTransport } from './transport.ts';
import { SshReader, sshMessage, sshNumber, sshString } from './wire.ts';

/**
 * Algorithms of an OpenSSH hardened against Terrapin (CVE-2023-48795) and D(HE)at (CVE-2002-20001), as hardening guides
 * recommend.
 */
const SERVER_LISTS: Omit<KexLists, 'hostKey'> = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'kex-strict-s-v00@openssh.com',
  ],
  cipher: ['aes256-gcm@openssh.com', 'aes128-gcm@openssh.com', 'aes256-ctr', 'aes192-ctr', 'aes128-ctr'],
  mac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compression: ['none', 'zlib@openssh.com'],
};

/** Identification lines of both sides, without their line ends. */
export interface Identifications {
  client: string;
  server: string;
}

/** Result of a key exchange. */
export interface SshSession {
  /** Session id: the exchange hash of the first key exchange. */
  id: Buffer;
  /** True if the client accepts extension messages. */
  takesExtensions: boolean;
}

const CURVES: Record<string, { curve: string; hash: string }> = {
  'ecdh-sha2-nistp256': { curve: 'prime256v1', hash: 'sha256' },
  'ecdh-sha2-nistp384': { curve: 'secp384r1', hash: 'sha384' },
  'ecdh-sha2-nistp521': { curve: 'secp521r1', hash: 'sha512' },
};

interface ServerExchange {
  transport: SshTransport;
  identifications: Identifications;
  hostKeys: readonly HostKey[];
  /** Session of the previous exchange; null for the first one. */
  before: SshSession | null;
  /** KEXINIT message of the client; null if it has not arrived yet. */
  begun: Buffer | null;
}

/**
 * Runs a key exchange with a client. @returns null if it fails, in which case OpenSSH closes the connection without a
 * message.
 */
export async function exchangeKeys(exchange: ServerExchange): Promise<SshSession | null> {
  const { transport, hostKeys, before } = exchange;
  const hostKey = hostKeys.flatMap(({ algorithms }) => algorithms);
  const own = kexInit(randomBytes(16), { ...SERVER_LISTS, hostKey });
  await transport.send(own);
  const theirs = exchange.begun ?? (await readBegin(transport));
  if (theirs === null) return null;
  const offer = readKexInit(theirs);
  const agreed = agree(offer, hostKey);
  if (before === null && offer.kex.includes('kex-strict-c-v00@openssh.com')) {
    transport.isStrict = true;
    if (transport.lastSequence !== 0) return null;
  }
  if (agreed === null) return null;
  const isWrongGuess = offer.isGuessing && (offer.kex[0] !== agreed.kex || offer.hostKey[0] !== agreed.hostKey);
  if (isWrongGuess && (await transport.read()) === null) return null;
  const init = await transport.read();
  if (init?.[0] !== SSH.ecdhInit) return null;
  const clientPublic = new SshReader(init).bytes();
  const shared = sharedSecret(agreed.kex, clientPublic);
  const key = hostKeys.find(({ algorithms }) => algorithms.includes(agreed.hostKey));
  if (shared === null || key === undefined) return null;
  const { client, server } = exchange.identifications;
  const fields = [client, server, theirs, own, key.blob, clientPublic, shared.publicKey].map(sshString);
  const hashed = hash(shared.hash, Buffer.concat([...fields, shared.secret]), 'buffer');
  const session = before ?? { id: hashed, takesExtensions: offer.kex.includes('ext-info-c') };
  const reply = [key.blob, shared.publicKey, key.sign(agreed.hostKey, hashed)].map(sshString);
  await transport.send(sshMessage(SSH.ecdhReply, ...reply), sshMessage(SSH.newKeys));
  const keysOf = keyMaker(shared, hashed, session.id);
  transport.renewSealing(packetCipher(agreed.ciphers[1], agreed.macs[1], keysOf('BDF')));
  if (before === null && session.takesExtensions) await transport.send(EXTENSIONS);
  if ((await transport.read())?.[0] !== SSH.newKeys) return null;
  transport.renewOpening(packetCipher(agreed.ciphers[0], agreed.macs[0], keysOf('ACE')));
  return session;
}

/**
 * Reads the message that starts a key exchange. Answers other transport messages as unimplemented, as OpenSSH does.
 * Returns null for a message of a higher layer, which ends the connection.
 */
async function readBegin(transport: SshTransport): Promise<Buffer | null> {
  for (;;) {
    const payload = await transport.read();
    if (payload === null || payload[0] === SSH.kexInit) return payload;
    if ((payload[0] ?? 0) >= SSH.authRequest) return null;
    await transport.send(notImplemented(transport));
  }
}

export function notImplemented({ lastSequence }: SshTransport): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(lastSequence);
  return sshMessage(SSH.unimplemented, number);
}

interface Agreed {
  kex: string;
  hostKey: string;
  ciphers: [string, string];
  macs: [string, string];
}

/** Selects from each list the client's first item that the server supports. */
function agree(offer: KexOffer, hostKeys: readonly string[]): Agreed | null {
  const first = (wanted: readonly string[], had: readonly string[]) => wanted.find((name) => had.includes(name));
  const { kex, cipher, mac } = SERVER_LISTS;
  const ciphers = offer.ciphers.map((wanted) => first(wanted, cipher));
  const macs = offer.macs.map((wanted, at) => (ciphers[at]?.includes('gcm') ? '' : first(wanted, mac)));
  const found = {
    kex: first(
      offer.kex,
      kex.filter((name) => !name.startsWith('kex-strict')),
    ),
    hostKey: first(offer.hostKey, hostKeys),
    ciphers,
    macs,
  };
  const isWhole = [found.kex, found.hostKey, ...ciphers, ...macs].every((name) => name !== undefined);
  return isWhole ? (found as Agreed) : null;
}

interface SharedSecret {
  hash: string;
  publicKey: Buffer;
  /** Shared secret, in the form that is hashed. */
  secret: Buffer;
}

/** @returns null if the public key is invalid. */
function sharedSecret(kex: string, theirs: Buffer): SharedSecret | null {
  try {
    const curve = CURVES[kex];
    if (curve === undefined) return agreeOn25519(generateKeyPairSync('x25519'), theirs);
    const own = createECDH(curve.curve);
    const publicKey = own.generateKeys();
    return { hash: curve.hash, publicKey, secret: sshNumber(own.computeSecret(theirs)) };
  } catch {
    return null;
  }
}

/** @throws Error if the public key is invalid. */
export function agreeOn25519(own: { privateKey: KeyObject; publicKey: KeyObject }, theirs: Uint8Array): SharedSecret {
  const x = Buffer.from(theirs).toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
  const secret = diffieHellman({ privateKey: own.privateKey, publicKey });
  return { hash: 'sha256', publicKey: publicBytes(own.publicKey), secret: sshNumber(secret) };
}

export function publicBytes(key: KeyObject): Buffer {
  return Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');
}

/**
 * Returns a function that derives keys by RFC 4253 section 7.2, by letter: initial vectors, encryption keys, integrity
 * keys.
 */
export function keyMaker({ hash: name, secret }: SharedSecret, hashed: Buffer, sessionId: Buffer) {
  const derive = (letter: string, length: number): Buffer => {
    const digest = (...parts: Uint8Array[]) => {
      const made = createHash(name).update(secret).update(hashed);
      for (const part of parts) made.update(part);
      return made.digest();
    };
    let key = digest(Buffer.from(letter), sessionId);
    while (key.length < length) key = Buffer.concat([key, digest(key)]);
    return key.subarray(0, length);
  };
  return ([iv, key, mac]: string): DirectionKeys => ({
    iv: (length) => derive(iv ?? '', length),
    key: (length) => derive(key ?? '', length),
    mac: (length) => derive(mac ?? '', length),
  });
}

/** Signature algorithms that OpenSSH 9.2 accepts. */
const SIGNATURES = [
  'ssh-ed25519',
  'sk-ssh-ed25519@openssh.com',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ecdsa-sha2-nistp256@openssh.com',
  'webauthn-sk-ecdsa-sha2-nistp256@openssh.com',
  'ssh-dss',
  'ssh-rsa',
  'rsa-sha2-256',
  'rsa-sha2-512',
];
const EXTENSIONS = sshMessage(
  SSH.extensions,
  Buffer.from([0, 0, 0, 2]),
  ...['server-sig-algs', SIGNATURES.join(','), 'publickey-hostbound@openssh.com', '0'].map(sshString),
);

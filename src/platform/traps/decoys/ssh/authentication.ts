import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { FoundTrap } from '../decoy.ts';
import { notImplemented, type SshSession } from './exchange.ts';
import { SSH, type SshTransport } from './transport.ts';
import { SshReader, sshMessage, sshString } from './wire.ts';

/** Maximum number of attempts, as MaxAuthTries of sshd_config. */
const MOST_TRIES = 6;
const FAILURE = sshMessage(SSH.authFailure, sshString('publickey'), Buffer.alloc(1));

/** Key that a client presented. */
export interface ShownKey {
  trap: FoundTrap;
  user: string;
  algorithm: string;
  /** True if the client proved that it has the private key; null if it has not tried yet. */
  verified: boolean | null;
  /** Authentication request. */
  request: Buffer;
}

interface AuthenticationDeps {
  transport: SshTransport;
  session: SshSession;
  /** Seed of the server; together with the user name, it determines the delay of a failure. */
  delaySeed: Buffer;
  find(fingerprint: string): Promise<FoundTrap | null>;
  /** Called and awaited before the answer to the key is sent. */
  onKey(key: ShownKey): Promise<void>;
  /** Renews the keys. @param begun message with which the client started the key exchange. */
  renew(begun: Buffer): Promise<boolean>;
}

/** Returns `SHA256:…`, as written by ssh-keygen. @param blob of a public key. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${hash('sha256', blob, 'base64').replace(/=+$/, '')}`;
}

/** Lets a client try its keys, and refuses every login. */
export async function refuseLogins(deps: AuthenticationDeps): Promise<void> {
  const { transport } = deps;
  let who: [user: string, service: string] | null = null;
  let isServed = false;
  let tries = 0;
  for (let attempt = 0; ; ) {
    const payload = await transport.read();
    if (payload === null) return;
    const type = payload[0];
    if (type === SSH.kexInit) {
      if (!(await deps.renew(payload))) return;
    } else if (type === SSH.serviceRequest) {
      const service = new SshReader(payload).text();
      if (service !== 'ssh-userauth') return transport.disconnect(`bad service request ${service}`);
      isServed = true;
      await transport.send(sshMessage(SSH.serviceAccept, sshString(service)));
    } else if (type === SSH.authRequest && isServed) {
      const reader = new SshReader(payload);
      const [user, service, method] = [reader.text(), reader.text(), reader.text()];
      if (who !== null && (who[0] !== user || who[1] !== service))
        return transport.disconnect(changed(who, user, service));
      who = [user, service];
      attempt++;
      const answer = await tryMethod(deps, { payload, reader, user, method });
      if (answer === FAILURE && (attempt > 1 || method !== 'none') && ++tries >= MOST_TRIES)
        return transport.disconnect('Too many authentication failures');
      await transport.send(answer);
    } else await transport.send(notImplemented(transport));
  }
}

function changed([user, service]: [string, string], to: string, toService: string): string {
  return `Change of username or service not allowed: (${user},${service}) -> (${to},${toService})`;
}

interface Attempt {
  payload: Buffer;
  reader: SshReader;
  user: string;
  method: string;
}

async function tryMethod(deps: AuthenticationDeps, attempt: Attempt): Promise<Buffer> {
  const since = performance.now();
  const { method, user } = attempt;
  const answer =
    method === 'publickey' || method === 'publickey-hostbound-v00@openssh.com'
      ? await tryKey(deps, attempt, method !== 'publickey')
      : FAILURE;
  // Delays as `ensure_minimum_time_since` and `user_specific_delay` of OpenSSH do.
  const least = 5 + (hash('sha256', Buffer.concat([deps.delaySeed, Buffer.from(user)]), 'buffer')[0] ?? 0) / 64;
  if (answer === FAILURE) await setTimeout(Math.max(0, least - (performance.now() - since)));
  return answer;
}

/**
 * Answers a public key request (RFC 4252 section 7). Accepts a trap's key in a query, to see whether the client can
 * sign with it; a signature is refused like any other.
 */
async function tryKey(deps: AuthenticationDeps, { payload, reader, user }: Attempt, isBound: boolean): Promise<Buffer> {
  const isSigned = reader.flag();
  const [algorithm, blob] = [reader.text(), reader.bytes()];
  if (isBound) reader.bytes();
  const { before } = reader;
  const trap = await deps.find(fingerprintOf(blob));
  if (trap === null) return FAILURE;
  const signed = Buffer.concat([sshString(deps.session.id), before]);
  const verified = isSigned ? isSignature(reader.bytes(), { algorithm, blob, signed }) : null;
  await deps.onKey({ trap, user, algorithm, verified, request: payload });
  return isSigned || !HASHES.has(algorithm) ? FAILURE : sshMessage(SSH.keyIsOk, sshString(algorithm), sshString(blob));
}

/** Signature algorithms for the keys of traps, with their hashes. */
const HASHES = new Map<string, string | null>([
  ['ssh-ed25519', null],
  ['rsa-sha2-256', 'sha256'],
  ['rsa-sha2-512', 'sha512'],
]);

interface Claim {
  algorithm: string;
  blob: Buffer;
  signed: Buffer;
}

function isSignature(signature: Buffer, { algorithm, blob, signed }: Claim): boolean {
  const reader = new SshReader(signature, 0);
  const hashName = HASHES.get(algorithm);
  if (reader.text() !== algorithm || hashName === undefined) return false;
  return verify(hashName, signed, toPublicKey(blob), reader.bytes());
}

function toPublicKey(blob: Buffer): KeyObject {
  const reader = new SshReader(blob, 0);
  if (reader.text() === 'ssh-ed25519') {
    const x = reader.bytes().toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  }
  const [e, n] = [reader.bytes(), reader.bytes()].map((number) => number.toString('base64url')) as [string, string];
  return createPublicKey({ key: { kty: 'RSA', e, n }, format: 'jwk' });
}

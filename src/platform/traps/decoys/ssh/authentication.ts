import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { FoundTrap } from '../decoy.ts';
import { notImplemented, type SshSession } from './exchange.ts';
import { SSH, type SshTransport } from './transport.ts';
import { SshReader, sshMessage, sshString } from './wire.ts';

/** MaxAuthTries of sshd_config. */
const MOST_TRIES = 6;
const FAILURE = sshMessage(SSH.authFailure, sshString('publickey'), Buffer.alloc(1));

/** A key that somebody showed. */
export interface ShownKey {
  trap: FoundTrap;
  user: string;
  algorithm: string;
  /** True if the client has the private half too; null if it did not say yet. */
  verified: boolean | null;
  /** The message. */
  request: Buffer;
}

interface AuthenticationDeps {
  transport: SshTransport;
  session: SshSession;
  /** The server's seed: the delay of a failure depends on it and on the user. */
  delaySeed: Buffer;
  find(fingerprint: string): Promise<FoundTrap | null>;
  /** Is awaited before the key is answered. */
  onKey(key: ShownKey): Promise<void>;
  /** Agrees on new keys. @param begun what the client sent to begin. */
  renew(begun: Buffer): Promise<boolean>;
}

/** `SHA256:…`, as ssh-keygen writes it. @param blob of a public key. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${hash('sha256', blob, 'base64').replace(/=+$/, '')}`;
}

/** Lets somebody try their keys, and nobody in. */
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
  // `ensure_minimum_time_since` and `user_specific_delay` of OpenSSH.
  const least = 5 + (hash('sha256', Buffer.concat([deps.delaySeed, Buffer.from(user)]), 'buffer')[0] ?? 0) / 64;
  if (answer === FAILURE) await setTimeout(Math.max(0, least - (performance.now() - since)));
  return answer;
}

/** RFC 4252 section 7. A known key is taken, to see whether its owner can sign; then it is refused as any other. */
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

/** Algorithms of the keys that traps have, with the hash that they sign. */
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

import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { madeOnce } from '../certificates.ts';
import { sshNumber, sshString } from './wire.ts';

/** Host key of a server. */
export interface HostKey {
  algorithms: readonly string[];
  /** Public key in wire format. */
  blob: Buffer;
  /** @returns the signature in wire format. */
  sign(algorithm: string, bytes: Uint8Array): Buffer;
}

const generate = promisify(generateKeyPair);

/** Returns the three host keys that Debian's package generates, in the order of OpenSSH; they are created once. */
export async function hostKeysIn(folder: string): Promise<HostKey[]> {
  const keep = (name: string, make: () => Promise<{ privateKey: KeyObject }>) =>
    madeOnce(folder, name, async () => toPem((await make()).privateKey));
  const rsa = await keep('host-rsa.pem', () => generate('rsa', { modulusLength: 3072 }));
  const ecdsa = await keep('host-ecdsa.pem', () => generate('ec', { namedCurve: 'P-256' }));
  const ed25519 = await keep('host-ed25519.pem', () => generate('ed25519'));
  return [rsaKey(createPrivateKey(rsa)), ecdsaKey(createPrivateKey(ecdsa)), ed25519Key(createPrivateKey(ed25519))];
}

function toPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns the public key in the wire format of RFC 4253 section 6.6, RFC 5656 and RFC 8709. */
export function sshPublicKey(key: KeyObject): Buffer {
  const { x = '', y = '', n = '', e = '' } = createPublicKey(key as never).export({ format: 'jwk' });
  const part = (text: string) => Buffer.from(text, 'base64url');
  if (key.asymmetricKeyType === 'ed25519') return Buffer.concat([sshString('ssh-ed25519'), sshString(part(x))]);
  if (key.asymmetricKeyType === 'rsa')
    return Buffer.concat([sshString('ssh-rsa'), sshNumber(part(e)), sshNumber(part(n))]);
  const point = Buffer.concat([Buffer.from([4]), part(x), part(y)]);
  return Buffer.concat(['ecdsa-sha2-nistp256', 'nistp256', point].map(sshString));
}

function rsaKey(key: KeyObject): HostKey {
  return {
    algorithms: ['rsa-sha2-512', 'rsa-sha2-256'],
    blob: sshPublicKey(key),
    sign: (algorithm, bytes) => signature(algorithm, sign(algorithm.endsWith('512') ? 'sha512' : 'sha256', bytes, key)),
  };
}

function ecdsaKey(key: KeyObject): HostKey {
  return {
    algorithms: ['ecdsa-sha2-nistp256'],
    blob: sshPublicKey(key),
    sign(algorithm, bytes) {
      const both = sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' });
      return signature(algorithm, Buffer.concat([sshNumber(both.subarray(0, 32)), sshNumber(both.subarray(32))]));
    },
  };
}

function ed25519Key(key: KeyObject): HostKey {
  return {
    algorithms: ['ssh-ed25519'],
    blob: sshPublicKey(key),
    sign: (algorithm, bytes) => signature(algorithm, sign(null, bytes, key)),
  };
}

function signature(algorithm: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([sshString(algorithm), sshString(bytes)]);
}

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './process.ts';

export const KINDS = ['ed25519', 'ecdsa-p256'] as const;
export type Kind = (typeof KINDS)[number];

const GENPKEY: Record<Kind | 'rsa' | 'p384', string[]> = {
  ed25519: ['-algorithm', 'ed25519'],
  'ecdsa-p256': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  rsa: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
  p384: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384'],
};

export interface KeyFiles {
  file: string;
  publicFile: string;
  /** SHA-256 of the public key in DER. */
  id: string;
}

/** Makes a key pair with openssl, in `folder` under `name`. */
export async function makeKey(folder: string, name: string, kind: keyof typeof GENPKEY): Promise<KeyFiles> {
  const file = join(folder, name);
  await run('openssl', ['genpkey', ...GENPKEY[kind], '-out', file], folder);
  await run('openssl', ['pkey', '-in', file, '-pubout', '-out', `${file}.pub`], folder);
  await run('openssl', ['pkey', '-in', file, '-pubout', '-outform', 'DER', '-out', `${file}.der`], folder);
  const id = createHash('sha256')
    .update(readFileSync(`${file}.der`))
    .digest('hex');
  return { file, publicFile: `${file}.pub`, id };
}

/** True if openssl verifies the signature over these bytes with the key. */
export async function opensslVerifies(
  folder: string,
  kind: Kind,
  { publicFile }: KeyFiles,
  signed: Uint8Array,
  sig: string,
): Promise<boolean> {
  const [data, signature] = [join(folder, 'signed'), join(folder, 'signature')];
  writeFileSync(data, signed);
  writeFileSync(signature, Buffer.from(sig, 'base64'));
  const words =
    kind === 'ed25519'
      ? ['pkeyutl', '-verify', '-pubin', '-inkey', publicFile, '-rawin', '-in', data, '-sigfile', signature]
      : ['dgst', '-sha256', '-verify', publicFile, '-signature', signature, data];
  return run('openssl', words, folder).then(
    (words) => /Verified OK|Verified Successfully/.test(words),
    () => false,
  );
}

import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sha256 } from '../../../core/digest.ts';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { refuseUnlessOneSignedText } from './clear-signed.ts';
import { start } from './programs.ts';
import { ArchiveRefusal } from './refusal.ts';
import { goodSigners } from './signers.ts';

/** Debian's own has 150 kB. */
const MAX_BYTES = 2 ** 24;

/** An InRelease that a key of the keyring signed. */
export interface SignedText {
  /** Exactly what is signed. */
  text: string;
  /** The digest of the whole file, hex. */
  sha256: string;
  /** Each name and fingerprint of a key that signed it well. */
  signedBy: string[];
}

/** Digests that collide; no signature over them counts. gpgv refuses MD5 by itself. */
const WEAK = ['SHA1', 'RIPEMD160'].flatMap((name) => ['--weak-digest', name]);

/**
 * Reads an InRelease and has gpgv judge it, which apt has judge it too.
 * @param keyring a file of public keys in binary form.
 * @throws ArchiveRefusal; EvidenceError `config` where gpgv is not there.
 */
export async function readInRelease(path: string, keyring: string): Promise<SignedText> {
  const bytes = await readBounded(path, MAX_BYTES);
  refuseUnlessOneSignedText(bytes);
  // Without a home of its own gpgv would take its user's keyring too.
  const args = [
    '--homedir',
    '/nonexistent',
    '--keyring',
    resolve(keyring),
    ...WEAK,
    '--status-fd',
    '3',
    '--output',
    '-',
    '-',
  ];
  const { output, ended } = start('gpgv', { args, input: once(bytes) });
  const signed: Uint8Array[] = [];
  for await (const piece of output) signed.push(piece);
  const { status } = await ended;
  const signedBy = goodSigners(status);
  return { text: Buffer.concat(signed).toString('utf8'), sha256: sha256(bytes), signedBy };
}

/** @throws EvidenceError `usage` where a file is no keyring that gpgv reads. */
export async function refuseUnlessKeyring(path: string): Promise<void> {
  const bytes = await readBounded(path, MAX_BYTES).catch((error) => {
    throw new EvidenceError('usage', `the keyring ${path} cannot be read: ${messageOf(error)}`, {
      nextStep: 'Name a file of public keys with --keyring. Debian has its own in the package debian-archive-keyring.',
    });
  });
  if (bytes.length > 0 && !bytes.subarray(0, 5).equals(Buffer.from('-----'))) return;
  throw new EvidenceError('usage', `${path} is not a keyring in binary form`, {
    nextStep: `Make one of it: gpg --dearmor < ${path} > keyring.gpg`,
  });
}

async function readBounded(path: string, limit: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > limit) throw new ArchiveRefusal(`has ${size} bytes, more than the ${limit} that are read`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

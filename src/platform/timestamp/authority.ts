import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import { issueAuthorityCertificates } from './certificates.ts';
import { toImprint } from './digest.ts';
import { issueToken, type TokenSigner } from './token.ts';
import type { TimestampAuthority } from './types.ts';

/** A name instead of an address: nobody else can ask this authority. */
const DEVELOPMENT_URL = 'urn:evidence-platform:development-authority';
const ROOT_FILE = 'root.pem';
const CERTIFICATE_FILE = 'tsa.pem';
const KEY_FILE = 'tsa.key';

/**
 * Creates an authority in the folder `dir`: `root.pem`, the root that verifiers pin, and `tsa.pem` with `tsa.key`
 * (0600), which sign.
 *
 * @throws EvidenceError `config` when the folder holds one already: its tokens are to stay verifiable.
 */
export async function createDevelopmentAuthority(dir: string): Promise<void> {
  const { rootPem, authorityPem, authorityKeyPem } = await issueAuthorityCertificates(new Date());
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    await writeFile(join(dir, KEY_FILE), authorityKeyPem, { flag: 'wx', mode: 0o600 });
    await writeFile(join(dir, CERTIFICATE_FILE), authorityPem, { flag: 'wx' });
    await writeFile(join(dir, ROOT_FILE), rootPem, { flag: 'wx' });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
    throw new EvidenceError('config', `${dir} already holds a development time-stamping authority, which stays`, {
      nextStep: 'Use that authority, or name another folder.',
      cause,
    });
  }
}

/** @throws EvidenceError `not-found` or `unreadable` when `dir` does not hold an authority that can sign. */
export async function openDevelopmentAuthority(dir: string): Promise<TimestampAuthority> {
  const signer = await readSigner(dir);
  return {
    kind: 'development',
    url: DEVELOPMENT_URL,
    stamp: async (digestHex) => {
      const digest = toImprint(digestHex);
      const genTime = new Date();
      return { token: await issueToken(signer, digest, genTime), genTime };
    },
  };
}

async function readSigner(dir: string): Promise<TokenSigner> {
  try {
    const certificate = new X509Certificate(await readFile(join(dir, CERTIFICATE_FILE)));
    const pem = await readFile(join(dir, KEY_FILE), 'utf8');
    return { certificate: certificate.raw, key: Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64') };
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw new EvidenceError(
      missing ? 'not-found' : 'unreadable',
      missing ? `${dir} holds no development authority` : `the authority in ${dir} cannot be read: ${messageOf(cause)}`,
      { nextStep: 'Create it with `evidence-platform init --data DIR`, or restore the folder from a backup.', cause },
    );
  }
}

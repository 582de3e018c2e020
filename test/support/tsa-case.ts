import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Certificate } from '../../src/core/timestamp/certificate.ts';
import { readIntermediates, readRoots } from '../../src/core/timestamp/roots.ts';
import type { TokenFindingCode } from '../../src/core/timestamp/token-finding.ts';
import { type TokenVerdict, verifyToken } from '../../src/core/timestamp/verify.ts';
import { digestOf, type Issued } from './tsa-forge.ts';
import { opensslAccepts } from './tsa-openssl.ts';

export interface ForgedCase {
  name: string;
  der: Buffer;
  /** The only pinned root. */
  root: Issued;
  /** Certificates given in addition to the token. */
  intermediates?: Issued[];
  digest?: string;
  nonce?: bigint;
  now?: Date;
  codes: TokenFindingCode[];
  /** Text that a message must contain, so that a case cannot pass for another reason. */
  says?: RegExp;
  /** True if `openssl ts -verify` accepts the token; if the verifier does not, openssl is laxer. */
  openssl: boolean;
}

export interface ForgedQuestion
  extends Pick<ForgedCase, 'der' | 'root' | 'intermediates' | 'digest' | 'nonce' | 'now'> {
  /** Roots that replace the PEM one. */
  roots?: readonly Certificate[];
}

/** Default time of forged tokens. */
const AT = new Date('2026-03-01T12:00:00Z');
const DIGEST = digestOf('sha256', Buffer.from('an entry')).toString('hex');

export function judgeForged({ der, root, roots, intermediates, digest, nonce, now }: ForgedQuestion): TokenVerdict {
  return verifyToken(der, {
    digest: digest ?? DIGEST,
    roots: roots ?? readRoots(root.pem, 'root.pem'),
    now: now ?? AT,
    ...(intermediates === undefined ? {} : { intermediates: readIntermediates(pemOf(intermediates), 'others.pem') }),
    ...(nonce === undefined ? {} : { nonce }),
  });
}

/** Asks the verifier and openssl about the same bytes, root, digest and time. Call it once per file, outside tests. */
export function forgedCases(): (one: ForgedCase) => Promise<void> {
  let folder = '';
  let number = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'forged-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  return async (one) => {
    const verdict = judgeForged(one);
    expect(verdict.faults.map(({ code }) => code)).toEqual(one.codes);
    expect(verdict.valid).toBe(one.codes.every((code) => code === 'anchor/certificate-expired'));
    if (one.says !== undefined) expect(verdict.faults.map(({ message }) => message).join('\n')).toMatch(one.says);
    expect(await opensslJudges(join(folder, String(number++)), one), 'openssl').toBe(one.openssl);
  };
}

async function opensslJudges(file: string, { der, root, intermediates, digest }: ForgedCase): Promise<boolean> {
  await Promise.all([writeFile(`${file}.der`, der), writeFile(`${file}.pem`, root.pem)]);
  if (intermediates !== undefined) await writeFile(`${file}.others.pem`, pemOf(intermediates));
  return opensslAccepts(`${file}.der`, {
    digest: digest ?? DIGEST,
    rootFile: `${file}.pem`,
    ...(intermediates === undefined ? {} : { untrustedFile: `${file}.others.pem` }),
    bare: isBare(der),
    at: AT,
  });
}

function pemOf(certificates: Issued[]): string {
  return certificates.map(({ pem }) => pem).join('');
}

/**
 * True if the bytes are a bare token, which begins with its type; a response begins with the SEQUENCE of its status.
 */
function isBare(der: Buffer): boolean {
  const length = der[1] ?? 0;
  return der[length < 0x80 ? 2 : 2 + (length & 0x7f)] === 0x06;
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenFaultCode } from '../../src/timestamp/fault.ts';
import { readRoots } from '../../src/timestamp/roots.ts';
import { type TokenVerdict, verifyToken } from '../../src/timestamp/verify.ts';
import { digestOf, type Issued } from './tsa-forge.ts';
import { opensslAccepts } from './tsa-openssl.ts';

export interface ForgedCase {
  name: string;
  der: Buffer;
  /** PEM of what is pinned. */
  root: Issued;
  digest?: string;
  nonce?: bigint;
  now?: Date;
  codes: TokenFaultCode[];
  /** What one of the messages must say, so that a case cannot pass for another reason. */
  says?: RegExp;
  /** Whether `openssl ts -verify` accepts it: where it does and we do not, it is the looser one. */
  openssl: boolean;
}

/** When all forged tokens are made, unless they say otherwise. */
const AT = new Date('2026-03-01T12:00:00Z');

export function judgeForged({
  der,
  root,
  digest,
  nonce,
  now,
}: Omit<ForgedCase, 'name' | 'codes' | 'openssl'>): TokenVerdict {
  return verifyToken(der, {
    digest: digest ?? digestOf('sha256', Buffer.from('an entry')).toString('hex'),
    roots: readRoots(root.pem, 'root.pem'),
    now: now ?? AT,
    ...(nonce === undefined ? {} : { nonce }),
  });
}

let number = 0;

/** What openssl says to the same bytes, root, digest and time. `folder` takes the files. */
export async function opensslJudges(folder: string, { der, root, digest }: ForgedCase): Promise<boolean> {
  const file = join(folder, `forged-${number++}`);
  await Promise.all([writeFile(`${file}.der`, der), writeFile(`${file}.pem`, root.pem)]);
  return opensslAccepts(`${file}.der`, {
    digest: digest ?? digestOf('sha256', Buffer.from('an entry')).toString('hex'),
    rootFile: `${file}.pem`,
    bare: isBare(der),
    at: AT,
  });
}

/** A token begins with its type, a response with the SEQUENCE of its status. */
function isBare(der: Buffer): boolean {
  const length = der[1] ?? 0;
  return der[length < 0x80 ? 2 : 2 + (length & 0x7f)] === 0x06;
}

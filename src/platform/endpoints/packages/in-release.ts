import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sha256 } from '../../../core/digest.ts';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { ArchiveRefusal, start } from './programs.ts';

/** Maximum size of an InRelease; Debian's own has 150 kB. */
const MAX_BYTES = 2 ** 24;

/** InRelease that is signed by a key of the keyring. */
export interface SignedText {
  /** Signed text, exactly. */
  text: string;
  /** Digest of the whole file, hex. */
  sha256: string;
  /** Name and fingerprint of each key with a good signature. */
  signedBy: string[];
}

/** Options that reject signatures with broken digests. gpgv refuses MD5 by default. */
const WEAK = ['SHA1', 'RIPEMD160'].flatMap((name) => ['--weak-digest', name]);

/**
 * Reads an InRelease and verifies it with gpgv, as apt does.
 * @param keyring file of public keys in binary form.
 * @throws ArchiveRefusal; EvidenceError `config` if gpgv is not installed.
 */
export async function readInRelease(path: string, keyring: string): Promise<SignedText> {
  const bytes = await readBounded(path, MAX_BYTES);
  refuseUnlessOneSignedText(bytes);
  // gpgv would otherwise use the keyring of the user, too.
  const told = ['--status-fd', '3', '--output', '-', '-'];
  const args = ['--homedir', '/nonexistent', '--keyring', resolve(keyring), ...WEAK, ...told];
  const { output, ended } = start('gpgv', { args, input: once(bytes) });
  const signed: Uint8Array[] = [];
  for await (const piece of output) signed.push(piece);
  const { status } = await ended;
  const signedBy = goodSigners(status);
  return { text: Buffer.concat(signed).toString('utf8'), sha256: sha256(bytes), signedBy };
}

/** @throws EvidenceError `usage` if the file is not a keyring that gpgv reads. */
export async function refuseUnlessKeyring(path: string): Promise<void> {
  const bytes = await readBounded(path, MAX_BYTES).catch((error) => {
    throw new EvidenceError('usage', `the keyring ${path} cannot be read: ${messageOf(error)}`, {
      nextStep:
        'Specify a file of public keys with --keyring. Debian ships its keys in the package debian-archive-keyring.',
    });
  });
  if (bytes.length > 0 && !bytes.subarray(0, 5).equals(Buffer.from('-----'))) return;
  throw new EvidenceError('usage', `${path} is not a binary keyring`, {
    nextStep: `Convert it: gpg --dearmor < ${path} > keyring.gpg`,
  });
}

async function readBounded(path: string, limit: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > limit) throw new ArchiveRefusal(`has ${size} bytes, more than the limit of ${limit}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const MESSAGE = '-----BEGIN PGP SIGNED MESSAGE-----';
const SIGNATURE = '-----BEGIN PGP SIGNATURE-----';
const END = '-----END PGP SIGNATURE-----';

/** Sole header that RFC 9580 section 7.1 allows before a signed text. */
const HEADER = /^Hash: [A-Z0-9, -]+$/;

/**
 * Refuses a file that is not exactly one cleartext-signed message (RFC 9580 section 7). A verifier ignores text around
 * the message, which another reader of the file could take for signed.
 * @throws ArchiveRefusal
 */
function refuseUnlessOneSignedText(bytes: Buffer): void {
  const text = bytes.toString('latin1');
  if (/[\0\r\f\v]/.test(text)) throw new ArchiveRefusal('contains control characters');
  const lines = text.split('\n');
  if (lines[0] !== MESSAGE) throw new ArchiveRefusal(`does not begin with ${MESSAGE}`);
  const armor = lines.filter((line) => line.startsWith('-----'));
  if (armor.join('\n') !== [MESSAGE, SIGNATURE, END].join('\n'))
    throw new ArchiveRefusal('is not exactly one signed message');
  if (lines.at(-2) !== END || lines.at(-1) !== '')
    throw new ArchiveRefusal('continues after its signatures, or is truncated');
  const blank = lines.indexOf('');
  if (!lines.slice(1, blank).every((line) => HEADER.test(line)))
    throw new ArchiveRefusal('has an invalid OpenPGP header before its signed text');
}

/** Status words of gpgv for signatures that do not count, with the reasons. */
const NOT_GOOD: Readonly<Record<string, string>> = {
  BADSIG: 'the signature does not match the text',
  EXPSIG: 'the signature has expired',
  EXPKEYSIG: 'the key has expired',
  REVKEYSIG: 'the key is revoked',
  ERRSIG: 'its key is not in the keyring, or its digest is weak',
};

/** Hash algorithm ids of SHA-256, SHA-384, SHA-512 and SHA-224: RFC 9580 section 9.5. */
const STRONG = new Set(['8', '9', '10', '11']);

/** Signature types of a cleartext-signed message, text or binary: RFC 9580 section 5.2.1. */
const OF_TEXT = new Set(['00', '01']);

/** Status lines of a signature, without their prefixes: https://github.com/gpg/gnupg/blob/master/doc/DETAILS */
interface Signature {
  verdict: string;
  keyId: string;
  name: string;
  /** Arguments of VALIDSIG. */
  valid: string[] | null;
}

/**
 * Reads the signers of a text from gpgv's status output. At least one key of the keyring must have a good signature,
 * and no signature may be over another text. Signatures by keys that are not in the keyring or have expired do not
 * matter.
 * @returns name and fingerprint of each.
 * @throws ArchiveRefusal
 */
function goodSigners(status: string): string[] {
  const lines = status.split('\n').flatMap((line) => /^\[GNUPG:\] (\S+) ?(.*)$/.exec(line)?.slice(1) ?? []);
  const said = pairs(lines);
  if (said.filter(([word]) => word === 'PLAINTEXT').length !== 1)
    throw new ArchiveRefusal('is not exactly one signed message');
  const signatures = signaturesIn(said);
  const good = signatures.filter(isGood);
  if (good.length === 0 || signatures.some(({ verdict }) => verdict === 'BADSIG'))
    throw new ArchiveRefusal(`has no valid signature: ${reasons(signatures)}`);
  return good.map(({ name, valid }) => `${name} ${valid?.at(-1) ?? ''}`);
}

function isGood({ verdict, valid }: Signature): boolean {
  return verdict === 'GOODSIG' && valid !== null && STRONG.has(valid[7] ?? '') && OF_TEXT.has(valid[8] ?? '');
}

function signaturesIn(said: readonly (readonly [string, string])[]): Signature[] {
  const signatures: Signature[] = [];
  for (const [word, rest] of said) {
    const last = signatures.at(-1);
    if (word === 'NEWSIG') signatures.push({ verdict: '', keyId: '', name: '', valid: null });
    else if (last !== undefined && word === 'VALIDSIG') last.valid = rest.split(' ');
    else if (last !== undefined && (word === 'GOODSIG' || word in NOT_GOOD)) {
      const [keyId = '', ...name] = rest.split(' ');
      Object.assign(last, { verdict: word, keyId, name: unescaped(name.join(' ')) });
    }
  }
  return signatures;
}

function reasons(signatures: readonly Signature[]): string {
  const all = signatures.map(
    ({ verdict, keyId }) => `${NOT_GOOD[verdict] ?? 'gpgv cannot read it'} (key ${keyId || 'unknown'})`,
  );
  return all.join('; ') || 'gpgv found none';
}

/** Decodes a name in which gpgv writes control characters and `%` as `%XX`. */
function unescaped(name: string): string {
  return Buffer.from(
    Buffer.from(name)
      .toString('latin1')
      .replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}

function pairs(flat: readonly string[]): (readonly [string, string])[] {
  return flat.flatMap((word, at) => (at % 2 === 0 ? [[word, flat[at + 1] ?? ''] as const] : []));
}

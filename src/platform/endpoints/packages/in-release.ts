import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { sha256 } from '../../../core/digest.ts';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { ArchiveRefusal, start } from './programs.ts';

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
  const told = ['--status-fd', '3', '--output', '-', '-'];
  const args = ['--homedir', '/nonexistent', '--keyring', resolve(keyring), ...WEAK, ...told];
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

const MESSAGE = '-----BEGIN PGP SIGNED MESSAGE-----';
const SIGNATURE = '-----BEGIN PGP SIGNATURE-----';
const END = '-----END PGP SIGNATURE-----';

/** The only header that RFC 9580, section 7.1, lets stand before a signed text. */
const HEADER = /^Hash: [A-Z0-9, -]+$/;

/**
 * Refuses what is not one clear-signed text and nothing else (RFC 9580, section 7). A program that verifies passes over what
 * stands around it, so that another reader of the same file could take that for signed.
 * @throws ArchiveRefusal
 */
function refuseUnlessOneSignedText(bytes: Buffer): void {
  const text = bytes.toString('latin1');
  if (/[\0\r\f\v]/.test(text)) throw new ArchiveRefusal('has control characters, which no signed index has');
  const lines = text.split('\n');
  if (lines[0] !== MESSAGE) throw new ArchiveRefusal(`does not begin with ${MESSAGE}`);
  const armor = lines.filter((line) => line.startsWith('-----'));
  if (armor.join('\n') !== [MESSAGE, SIGNATURE, END].join('\n'))
    throw new ArchiveRefusal('is not one signed text with one block of signatures');
  if (lines.at(-2) !== END || lines.at(-1) !== '')
    throw new ArchiveRefusal('goes on after its signatures, or is cut off');
  const blank = lines.indexOf('');
  if (!lines.slice(1, blank).every((line) => HEADER.test(line)))
    throw new ArchiveRefusal('has a header before its signed text that is none of OpenPGP');
}

/** gpgv's words for good signatures that do not count, each with the reason. */
const NOT_GOOD: Readonly<Record<string, string>> = {
  BADSIG: 'its text is not what was signed',
  EXPSIG: 'the signature has expired',
  EXPKEYSIG: 'the key has expired',
  REVKEYSIG: 'the key is revoked',
  ERRSIG: 'no key of the keyring made it, or its digest is weak',
};

/** SHA-256, SHA-384, SHA-512, SHA-224: RFC 9580, section 9.5. */
const STRONG = new Set(['8', '9', '10', '11']);

/** A clear-signed text has signatures of texts, or of bytes: RFC 9580, section 5.2.1. */
const OF_TEXT = new Set(['00', '01']);

/** As in https://github.com/gpg/gnupg/blob/master/doc/DETAILS, each line without its beginning. */
interface Signature {
  verdict: string;
  keyId: string;
  name: string;
  /** The words of VALIDSIG. */
  valid: string[] | null;
}

/**
 * Reads the signers of a text from gpgv's status descriptor: at least one key of the keyring signed it well, and no
 * signature is of another text. Further signatures, by keys that are not in the keyring or are old, take nothing from
 * that.
 * @returns name and fingerprint of each.
 * @throws ArchiveRefusal
 */
function goodSigners(status: string): string[] {
  const lines = status.split('\n').flatMap((line) => /^\[GNUPG:\] (\S+) ?(.*)$/.exec(line)?.slice(1) ?? []);
  const said = pairs(lines);
  if (said.filter(([word]) => word === 'PLAINTEXT').length !== 1)
    throw new ArchiveRefusal('is not one text that is signed');
  const signatures = signaturesIn(said);
  const good = signatures.filter(isGood);
  if (good.length === 0 || signatures.some(({ verdict }) => verdict === 'BADSIG'))
    throw new ArchiveRefusal(`has no good signature: ${reasons(signatures)}`);
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
  return all.join('; ') || 'it has none that gpgv can read';
}

/** gpgv writes control signs and `%` of names as `%XX`. */
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

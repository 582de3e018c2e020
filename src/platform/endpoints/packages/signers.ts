import { ArchiveRefusal } from './refusal.ts';

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
export function goodSigners(status: string): string[] {
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

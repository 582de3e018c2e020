import { ArchiveRefusal } from './refusal.ts';

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
export function refuseUnlessOneSignedText(bytes: Buffer): void {
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

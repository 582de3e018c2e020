import { sign } from 'node:crypto';
import type { CertificateKind, RevocationReason } from '../enums.ts';
import { type CertificateAuthority, loadX509, wholeSecond } from './certificates.ts';
import type { Revocation } from './identity-rows.ts';

/** Reason codes of RFC 5280 section 5.3.1. */
const REASONS: Record<RevocationReason, number> = { superseded: 4, cessationOfOperation: 5, certificateHold: 6 };

/** Encoded object identifiers: ecdsa-with-SHA256 of RFC 5758, id-ml-dsa-65 of RFC 9881, and extensions. */
const OIDS = {
  ecdsa: '2a8648ce3d040302',
  ml_dsa_65: '608648016503040312',
  reasonCode: '551d15',
  crlNumber: '551d14',
} as const;

/** Tags of X.690 that occur in lists. */
const DER_TAGS = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  context0: 0xa0,
} as const;

const V2 = derInteger('01');

/**
 * Issues the list of all revoked certificates of an authority, in DER (RFC 5280 section 5). The list is encoded here,
 * because @peculiar/x509 takes a minute for ten thousand certificates.
 * @param number greater than that of any earlier list.
 */
export async function issueRevocationList(
  { kind, pem, key }: CertificateAuthority,
  { revoked, number, now, seconds }: { revoked: readonly Revocation[]; number: bigint; now: Date; seconds: number },
): Promise<Buffer> {
  const thisUpdate = wholeSecond(now);
  const nextUpdate = new Date(thisUpdate.getTime() + seconds * 1000);
  const { issuer, keyIdentifier } = await issuerOf(pem);
  const extensions = der('sequence', keyIdentifier, extension('crlNumber', derInteger(number.toString(16))));
  const algorithm = algorithmOf(kind);
  const list = der(
    'sequence',
    V2,
    algorithm,
    issuer,
    derTime(thisUpdate),
    derTime(nextUpdate),
    // Section 5.1.2.6: absent if there are no revoked certificates.
    ...(revoked.length > 0 ? [der('sequence', ...revoked.map(entryOf))] : []),
    der('context0', extensions),
  );
  const signature = sign(kind === 'ecdsa' ? 'sha256' : null, list, key);
  return der('sequence', list, algorithm, der('bitString', Buffer.from([0]), signature));
}

function entryOf({ serial, revokedAt, reason }: Revocation): Buffer {
  const code = extension('reasonCode', der('enumerated', Buffer.from([REASONS[reason]])));
  return der('sequence', derInteger(serial), derTime(revokedAt), der('sequence', code));
}

/** Returns an extension that is not critical. */
function extension(name: 'reasonCode' | 'crlNumber', value: Uint8Array): Buffer {
  return der('sequence', objectIdentifier(name), der('octetString', value));
}

/** Returns the algorithm identifier; neither algorithm has parameters. */
const algorithmOf = (kind: CertificateKind) => der('sequence', objectIdentifier(kind));

const objectIdentifier = (name: keyof typeof OIDS) => der('objectIdentifier', Buffer.from(OIDS[name], 'hex'));

/** Returns the issuer's name and key identifier as in certificates of this authority, in DER. */
async function issuerOf(pem: string): Promise<{ issuer: Uint8Array; keyIdentifier: Uint8Array }> {
  const x509 = await loadX509();
  const authority = new x509.X509Certificate(pem);
  const keyIdentifier = await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey, false);
  return {
    issuer: new Uint8Array(authority.subjectName.toArrayBuffer()),
    keyIdentifier: new Uint8Array(keyIdentifier.rawData),
  };
}

function der(tag: keyof typeof DER_TAGS, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([DER_TAGS[tag]]), lengthOf(content), content]);
}

/** Encodes a length by section 8.1.3: one byte up to 127, otherwise preceded by the number of length bytes. */
function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const shortest = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.from([0x80 | shortest.length]), shortest]);
}

/** Encodes a non-negative integer by section 8.3. @param hex with or without a leading zero. */
function derInteger(hex: string): Buffer {
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return der('integer', (bytes[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** Encodes a time by RFC 5280 section 4.1.2.5: two-digit years until 2049. */
function derTime(time: Date): Buffer {
  const digits = `${time.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  if (time.getUTCFullYear() < 2050) return der('utcTime', Buffer.from(digits.slice(2)));
  return der('generalizedTime', Buffer.from(digits));
}

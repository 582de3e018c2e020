import { sign } from 'node:crypto';
import type { CertificateAuthority } from './certificates.ts';
import { der, derInteger, derTime } from './der.ts';
import type { CertificateKind, RevocationReason } from './kinds.ts';
import { loadX509, wholeSecond } from './x509.ts';

/** A certificate that is not to be trusted, for now or for ever. */
export interface Revocation {
  /** 40 hex digits. */
  serial: string;
  revokedAt: Date;
  reason: RevocationReason;
}

/** RFC 5280 section 5.3.1. */
const REASONS: Record<RevocationReason, number> = { superseded: 4, cessationOfOperation: 5, certificateHold: 6 };

/** Object identifiers, as they are written: ecdsa-with-SHA256 of RFC 5758, id-ml-dsa-65 of RFC 9881, and extensions. */
const OIDS = {
  ecdsa: '2a8648ce3d040302',
  ml_dsa_65: '608648016503040312',
  reasonCode: '551d15',
  crlNumber: '551d14',
} as const;

const V2 = derInteger('01');

/**
 * All revoked certificates of an authority, in DER (RFC 5280 section 5). @peculiar/x509 takes a minute for ten thousand, so
 * it is written here.
 * @param number greater than that of any list before it.
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
    // Section 5.1.2.6: absent where there is none.
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

/** One that is not critical. */
function extension(name: 'reasonCode' | 'crlNumber', value: Uint8Array): Buffer {
  return der('sequence', objectIdentifier(name), der('octetString', value));
}

/** Both have no parameters. */
const algorithmOf = (kind: CertificateKind) => der('sequence', objectIdentifier(kind));

const objectIdentifier = (name: keyof typeof OIDS) => der('objectIdentifier', Buffer.from(OIDS[name], 'hex'));

/** As certificates of this authority name it, in DER. */
async function issuerOf(pem: string): Promise<{ issuer: Uint8Array; keyIdentifier: Uint8Array }> {
  const x509 = await loadX509();
  const authority = new x509.X509Certificate(pem);
  const keyIdentifier = await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey, false);
  return {
    issuer: new Uint8Array(authority.subjectName.toArrayBuffer()),
    keyIdentifier: new Uint8Array(keyIdentifier.rawData),
  };
}

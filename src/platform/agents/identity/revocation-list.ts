import { webcrypto } from 'node:crypto';
import type { CertificateAuthority } from './certificates.ts';
import type { RevocationReason } from './kinds.ts';
import { loadX509, signingWith, wholeSecond } from './x509.ts';

/** A certificate that is not to be trusted, for now or for ever. */
export interface Revocation {
  /** 40 hex digits. */
  serial: string;
  revokedAt: Date;
  reason: RevocationReason;
}

/** id-ce-cRLNumber. */
const CRL_NUMBER = '2.5.29.20';

/**
 * All revoked certificates of an authority, in DER (RFC 5280 section 5).
 * @param number greater than that of any list before it.
 */
export async function issueRevocationList(
  authority: CertificateAuthority,
  { revoked, number, now, seconds }: { revoked: readonly Revocation[]; number: bigint; now: Date; seconds: number },
): Promise<Buffer> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.pem);
  const { signing, crypto } = signingWith(authority.kind, authority.key);
  const thisUpdate = wholeSecond(now);
  const list = await x509.X509CrlGenerator.create(
    {
      issuer: issuer.subjectName,
      thisUpdate,
      nextUpdate: new Date(thisUpdate.getTime() + seconds * 1000),
      entries: revoked.map(({ serial, revokedAt, reason }) => ({
        serialNumber: serial,
        revocationDate: wholeSecond(revokedAt),
        reason: x509.X509CrlReason[reason],
      })),
      extensions: [
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto),
        new x509.Extension(CRL_NUMBER, false, derInteger(number)),
      ],
      ...signing,
    },
    crypto,
  );
  return Buffer.from(list.rawData);
}

/** X.690 section 8.3: a number that is not negative, of at most 20 octets. */
function derInteger(number: bigint): Buffer {
  const hex = number.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const body = (bytes[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, body.length]), body]);
}

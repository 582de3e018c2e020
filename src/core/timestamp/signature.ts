import { hash, verify } from 'node:crypto';
import { algorithmName, type DigestName, digestOf, signatureOf } from './algorithms.ts';
import type { Certificate } from './certificate.ts';
import { sameName } from './names.ts';
import type { CertificateId } from './signed-attributes.ts';
import type { Signer, Token } from './token.ts';
import { type TokenFinding, toTokenFinding } from './token-finding.ts';

/**
 * Returns the certificate that the SignerInfo names. If several have this issuer and serial number, returns the first,
 * like OpenSSL: the signed attributes tell whether it is the right one.
 */
export function signerCertificate(signer: Signer, certificates: readonly Certificate[]): Certificate | undefined {
  return certificates.find(({ serial, issuer }) => serial === signer.serial && sameName(issuer, signer.issuer));
}

/**
 * Checks the signature (RFC 5652 sections 5.4 and 5.6): the signed attributes bind the content, the signature binds the
 * attributes.
 */
export function checkTokenSignature(token: Token, certificate: Certificate): TokenFinding[] {
  const { signer, content } = token;
  const digest = digestOf(signer.digestAlgorithm)?.name;
  if (digest === undefined)
    return [bad(`the token is signed over a ${algorithmName(signer.digestAlgorithm)} digest, which is not accepted`)];
  const faults: TokenFinding[] = [];
  const actual = hash(digest, content, 'hex');
  const expected = Buffer.from(signer.attributes.messageDigest).toString('hex');
  if (actual !== expected)
    faults.push(bad('the signed digest is not that of the content of the token', { expected, actual }));
  const reason = whyNotSigned(signer, digest, certificate);
  if (reason !== null) faults.push(bad(reason));
  return faults;
}

function whyNotSigned(signer: Signer, digest: DigestName, { key, subject }: Certificate): string | null {
  const scheme = signatureOf(signer.signatureAlgorithm);
  const algorithm = algorithmName(signer.signatureAlgorithm);
  if (scheme === undefined) return `the token is signed with ${algorithm}, which is not accepted`;
  if (scheme.digest !== undefined && scheme.digest !== digest)
    return `the token is signed with ${algorithm} over a ${digest} digest: the two must be the same`;
  if (key?.asymmetricKeyType !== scheme.key) return `the key of ${subject.text} does not sign with ${algorithm}`;
  if (verify(digest, signer.attributes.signedBytes, key, signer.signature)) return null;
  return `the signature is not that of ${subject.text} over these attributes`;
}

/**
 * Checks the first certificate that the attributes name, the signer's (RFC 5816); without the check, any certificate
 * with its key would do.
 */
export function checkNamedCertificate({ signer }: Token, certificate: Certificate): TokenFinding[] {
  return signer.attributes.certificateIds.flatMap(([first]) =>
    first !== undefined && !identifies(first, certificate)
      ? [
          bad(
            `the signed attributes name another certificate than that of ${certificate.subject.text}`,
            comparison(first, certificate),
          ),
        ]
      : [],
  );
}

/** Checks the further certificates that the attributes name: each must be on the path, which is OpenSSL's rule. */
export function checkNamedPath({ signer }: Token, path: readonly Certificate[]): TokenFinding[] {
  return signer.attributes.certificateIds.flatMap(([, ...further]) =>
    further
      .filter((id) => !path.slice(1).some((certificate) => identifies(id, certificate)))
      .map((id) =>
        toTokenFinding('anchor/untrusted', 'the signed attributes ask for a certificate that is not on the path', {
          expected: Buffer.from(id.hash).toString('hex'),
        }),
      ),
  );
}

function identifies(id: CertificateId, { der, serial, issuer }: Certificate): boolean {
  if (Buffer.compare(hash(id.algorithm, der, 'buffer'), id.hash) !== 0) return false;
  return id.issuerSerial === null || (id.issuerSerial.serial === serial && sameName(id.issuerSerial.issuer, issuer));
}

function comparison(id: CertificateId, { der }: Certificate): { expected: string; actual: string } {
  return { expected: Buffer.from(id.hash).toString('hex'), actual: hash(id.algorithm, der, 'hex') };
}

function bad(message: string, place: { expected?: string; actual?: string } = {}): TokenFinding {
  return toTokenFinding('anchor/bad-signature', message, place);
}

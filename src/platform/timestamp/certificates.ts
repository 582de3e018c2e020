import { webcrypto } from 'node:crypto';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const YEARS = 10;
/** Sole purpose of a time-stamping authority's certificate, marked critical: RFC 3161 section 2.3. */
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const ROOT_NAME = 'O=Evidence Platform,CN=Development Time-Stamping Root (not an external witness)';
/** Common name that distinguishes these tokens from those of an external witness. */
export const AUTHORITY_COMMON_NAME = 'Development Time-Stamping Authority (not an external witness)';
const AUTHORITY_NAME = `O=Evidence Platform,CN=${AUTHORITY_COMMON_NAME}`;

interface AuthorityCertificates {
  rootPem: string;
  authorityPem: string;
  /**
   * Key as PKCS #8. The root's key is discarded after signing the authority's certificate, so no second certificate can
   * be issued.
   */
  authorityKeyPem: string;
}

type X509 = typeof import('@peculiar/x509');
type Keys = webcrypto.CryptoKeyPair;
/** Validity of a certificate, and its signature algorithm. */
type Terms = { notBefore: Date; notAfter: Date; signingAlgorithm: typeof ALGORITHM };

export async function issueAuthorityCertificates(now: Date): Promise<AuthorityCertificates> {
  // Loaded first, because the decorators of @peculiar/x509 need it.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const { subtle } = webcrypto;
  const rootKeys = await subtle.generateKey(ALGORITHM, false, ['sign', 'verify']);
  const keys = await subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(now.getUTCFullYear() + YEARS);
  const terms = { notBefore: now, notAfter, signingAlgorithm: ALGORITHM };
  const root = await issueRoot(x509, rootKeys, terms);
  const authority = await issueAuthority(x509, keys, rootKeys, terms);
  const pkcs8 = Buffer.from(await subtle.exportKey('pkcs8', keys.privateKey));
  return {
    rootPem: `${root.toString('pem')}\n`,
    authorityPem: `${authority.toString('pem')}\n`,
    authorityKeyPem: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
  };
}

async function issueRoot(x509: X509, keys: Keys, terms: Terms) {
  const extensions = [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
  ];
  return x509.X509CertificateGenerator.createSelfSigned({ name: ROOT_NAME, keys, ...terms, extensions }, webcrypto);
}

async function issueAuthority(x509: X509, keys: Keys, rootKeys: Keys, terms: Terms) {
  const extensions = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([TIME_STAMPING], true),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
    await x509.AuthorityKeyIdentifierExtension.create(rootKeys.publicKey, false, webcrypto),
  ];
  const names = { subject: AUTHORITY_NAME, issuer: ROOT_NAME };
  const signed = { publicKey: keys.publicKey, signingKey: rootKeys.privateKey };
  return x509.X509CertificateGenerator.create({ ...names, ...signed, ...terms, extensions }, webcrypto);
}

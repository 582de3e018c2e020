import { type KeyObject, randomBytes, sign, webcrypto } from 'node:crypto';
import type { CertificateKind } from '../enums.ts';

export interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/** Subject of a certificate, with its key. */
interface CertificateSubject extends Validity {
  kind: CertificateKind;
  publicKey: KeyObject;
}

/** Authority that signs certificates and revocation lists. */
export interface CertificateAuthority {
  kind: CertificateKind;
  pem: string;
  key: KeyObject;
}

export interface IssuedCertificate {
  pem: string;
  /** Certificate, followed by that of the authority. */
  chainPem: string;
  /** Serial number in 40 hex digits. */
  serial: string;
}

/**
 * Issues the certificate of an authority, in PEM. The authority only signs agents' certificates and revocation lists
 * (SPIFFE X.509-SVID sections 3.2 and 4: the trust domain without a path).
 */
export async function issueAuthorityCertificate(
  { kind, publicKey, notBefore, notAfter }: CertificateSubject,
  { key, commonName, trustDomain }: { key: KeyObject; commonName: string; trustDomain: string },
): Promise<string> {
  const x509 = await loadX509();
  const name = [{ O: ['Evidence Platform'] }, { CN: [commonName] }];
  const extensions = [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(toSpki(publicKey), false, webcrypto),
    new x509.SubjectAlternativeNameExtension([{ type: 'url', value: `spiffe://${trustDomain}` }]),
  ];
  const terms = { serialNumber: newSerial(), notBefore, notAfter, extensions };
  const names = { subject: name, issuer: name, publicKey: toSpki(publicKey) };
  const { signing, crypto } = signingWith(kind, key);
  const certificate = await x509.X509CertificateGenerator.create({ ...names, ...terms, ...signing }, crypto);
  return `${certificate.toString('pem')}\n`;
}

/** Issues the certificate of an agent, an X.509-SVID for TLS clients and servers. */
export async function issueAgentCertificate(
  { publicKey, notBefore, notAfter }: Omit<CertificateSubject, 'kind'>,
  agent: { agentId: string; spiffeId: string; composition: string; revocationListUrl: string },
  authority: CertificateAuthority,
): Promise<IssuedCertificate> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.pem);
  const serial = newSerial();
  const extensions = [
    new x509.BasicConstraintsExtension(false, undefined, true),
    // RFC 9881 section 5: ML-DSA keys only sign; X.509-SVID section 4.3: digitalSignature, marked critical.
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
    await x509.SubjectKeyIdentifierExtension.create(toSpki(publicKey), false, webcrypto),
    await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto),
    // X.509-SVID section 2: exactly one URI.
    new x509.SubjectAlternativeNameExtension([{ type: 'url', value: agent.spiffeId }]),
    new x509.CRLDistributionPointsExtension([agent.revocationListUrl]),
  ];
  const subject = [{ CN: [agent.agentId] }, { [DESCRIPTION]: [compositionWords(agent.composition)] }];
  const terms = { serialNumber: serial, notBefore, notAfter, extensions };
  const names = { subject, issuer: issuer.subjectName, publicKey: toSpki(publicKey) };
  const { signing, crypto } = signingWith(authority.kind, authority.key);
  const certificate = await x509.X509CertificateGenerator.create({ ...names, ...terms, ...signing }, crypto);
  const pem = `${certificate.toString('pem')}\n`;
  return { pem, chainPem: pem + authority.pem, serial };
}

/**
 * Object identifier of the X.520 `description`, an attribute of the subject that contains the composition. An extension
 * of our own would need an object identifier; those that anyone may use (2.25) have arcs that Go cannot parse, so Go
 * would reject the certificate.
 */
const DESCRIPTION = '2.5.4.13';

/** Returns the composition as stated in the subject of the certificate. */
function compositionWords(composition: string): string {
  return `composition-sha256:${composition}`;
}

type X509 = typeof import('@peculiar/x509');

export async function loadX509(): Promise<X509> {
  // Loaded first, because the decorators of @peculiar/x509 need it.
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** Algorithms of the signatures; RFC 9881 section 2: pure ML-DSA, without parameters. */
const SIGNING: Record<CertificateKind, { name: string; hash?: string }> = {
  ecdsa: { name: 'ECDSA', hash: 'SHA-256' },
  ml_dsa_65: { name: 'ML-DSA-65' },
};

/**
 * Returns a signer for @peculiar/x509. WebCrypto's ML-DSA is experimental in Node and prints a warning, so signatures
 * are made with node:crypto keys, in the format of WebCrypto.
 */
function signingWith(kind: CertificateKind, key: KeyObject) {
  const signingAlgorithm = SIGNING[kind];
  const hash = signingAlgorithm.hash ?? null;
  const subtle = {
    sign: async (_algorithm: unknown, _key: unknown, data: ArrayBuffer) =>
      sign(hash, Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }),
  };
  return {
    signing: { signingAlgorithm, signingKey: { algorithm: signingAlgorithm } as webcrypto.CryptoKey },
    crypto: { subtle } as unknown as webcrypto.Crypto,
  };
}

/** Returns the key in the form of certificates. */
function toSpki(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' });
}

/**
 * Returns a serial number by RFC 5280 section 4.1.2.2: positive, at most 20 octets, and unpredictable. 40 hex digits.
 */
export function newSerial(): string {
  const serial = randomBytes(20);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial.toString('hex');
}

/** Truncates a time to seconds, because certificates have no fractions. */
export function wholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}

import { type KeyObject, webcrypto } from 'node:crypto';
import type { CertificateKind } from './kinds.ts';
import { loadX509, newSerial, signingWith, toSpki } from './x509.ts';

export interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/** A certificate, and the key that it says belongs to its subject. */
export interface CertificateSubject extends Validity {
  kind: CertificateKind;
  publicKey: KeyObject;
}

/** An authority that signs certificates and their revocation. */
export interface CertificateAuthority {
  kind: CertificateKind;
  pem: string;
  key: KeyObject;
}

export interface IssuedCertificate {
  pem: string;
  /** The certificate, followed by the authority's. */
  chainPem: string;
  /** 40 hex digits. */
  serial: string;
}

/**
 * The certificate of an authority itself, in PEM. It signs agents' certificates and lists of revoked ones, and nothing else
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

/** The certificate of an agent: an X.509-SVID for TLS as a client and as a server. */
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
    // RFC 9881 section 5: of ML-DSA keys signatures only; X.509-SVID section 4.3: this one, and critical.
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
 * X.520 `description`: what an agent is made of stands in its subject. An extension of our own would need an object
 * identifier; those that anybody may take (2.25) have arcs that Go refuses to read, and the whole certificate with them.
 */
const DESCRIPTION = '2.5.4.13';

/** As it stands in the subject of the certificate. */
export function compositionWords(composition: string): string {
  return `composition-sha256:${composition}`;
}

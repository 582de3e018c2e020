import 'reflect-metadata';
import { createHash, KeyObject, sign, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import {
  algorithm,
  boolean,
  explicit,
  integer,
  NULL,
  octets,
  oid,
  parts,
  sequence,
  set,
  time,
  tlv,
  utf8,
} from './der.ts';

export const OID = {
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  rsa: '1.2.840.113549.1.1.1',
  rsaPss: '1.2.840.113549.1.1.10',
  ecdsaSha1: '1.2.840.10045.4.1',
  ecdsaSha256: '1.2.840.10045.4.3.2',
  ecdsaSha384: '1.2.840.10045.4.3.3',
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

export const digestOf = (name: string, bytes: Uint8Array) => createHash(name).update(bytes).digest();

export interface Issued {
  der: Buffer;
  pem: string;
  key: KeyObject;
  keys: webcrypto.CryptoKeyPair;
  subject: string;
}

export interface CertificateOptions {
  subject: string;
  /** Issuer; by default the certificate itself. */
  issuer?: Issued;
  /** Keys of another certificate, for two certificates with one key. */
  keys?: webcrypto.CryptoKeyPair;
  /** Public key of a type that WebCrypto cannot create. */
  publicKey?: KeyObject;
  algorithm?: webcrypto.EcKeyGenParams | webcrypto.RsaHashedKeyGenParams;
  hash?: 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';
  from?: string;
  to?: string;
  extensions?: x509.Extension[];
}

let serial = 0x1000;

/** Issues a certificate with exactly these extensions. */
export async function issue(options: CertificateOptions): Promise<Issued> {
  const { subtle } = webcrypto;
  const kind = options.algorithm ?? { name: 'ECDSA', namedCurve: 'P-256' };
  const keys = options.keys ?? (await subtle.generateKey(kind, true, ['sign', 'verify']));
  const signer = options.issuer?.keys ?? keys;
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: (serial++).toString(16),
      subject: options.subject,
      issuer: options.issuer?.subject ?? options.subject,
      publicKey: options.publicKey === undefined ? keys.publicKey : spki(options.publicKey),
      signingKey: signer.privateKey,
      notBefore: new Date(options.from ?? '2025-01-01T00:00:00Z'),
      notAfter: new Date(options.to ?? '2027-01-01T00:00:00Z'),
      signingAlgorithm: { name: signer.privateKey.algorithm.name, hash: options.hash ?? 'SHA-256' },
      extensions: options.extensions ?? [],
    },
    webcrypto,
  );
  return {
    der: Buffer.from(certificate.rawData),
    pem: `${certificate.toString('pem')}\n`,
    key: KeyObject.from(keys.privateKey),
    keys,
    subject: options.subject,
  };
}

function spki(key: KeyObject): x509.PublicKey {
  return new x509.PublicKey(Uint8Array.from(key.export({ type: 'spki', format: 'der' })));
}

export const ca = (pathLength?: number) => new x509.BasicConstraintsExtension(true, pathLength, true);
export const purposes = (critical: boolean, ...oids: string[]) => new x509.ExtendedKeyUsageExtension(oids, critical);
export const usage = (flags: x509.KeyUsageFlags) => new x509.KeyUsagesExtension(flags, true);
export const extension = (dotted: string, critical: boolean, value: Uint8Array) =>
  new x509.Extension(dotted, critical, Uint8Array.from(value));
export const USAGE = x509.KeyUsageFlags;

/** Parts of a token; each can be changed, or omitted if it is optional. */
export interface Forgery {
  imprint: Buffer;
  imprintAlgorithm: string;
  genTime: string;
  /** Fields of the TSTInfo, in order: version, policy, imprint, serial, genTime, and additions. */
  info: (fields: Buffer[]) => Buffer[];
  /** Bytes after the TSTInfo, in the same octets. */
  infoTail: Buffer;
  contentType: string;
  version: number;
  digest: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  announced: readonly string[];
  signatureAlgorithm: Buffer;
  certificates: readonly Buffer[];
  /** Attributes by name, so that a test can replace or delete one; the result is signed. */
  attributes: (usual: Record<'contentType' | 'messageDigest' | 'signingCertificate', Buffer>) => Buffer[];
  signedWith: KeyObject;
  signedAs: 'set' | 'context';
  unsigned: Buffer[];
  /** Returns the whole list of signers, from the usual one. */
  signers: (one: Buffer) => Buffer[];
  /** PKIStatusInfo of a response; null for a bare token. */
  status: Buffer | null;
}

export const attribute = (type: string, ...values: Buffer[]) => sequence(oid(type), set(...values));

/** Encodes ESSCertIDv2 (RFC 5035), or with `sha1` ESSCertID inside its own attribute. */
export function certificateId(
  hash: 'sha1' | 'sha256' | 'sha384' | 'sha512',
  der: Buffer,
  ...issuerSerial: Buffer[]
): Buffer {
  const named = hash === 'sha1' || hash === 'sha256' ? [] : [algorithm(OID[hash])];
  return sequence(...named, octets(digestOf(hash, der)), ...issuerSerial);
}

export function issuerSerial(der: Buffer, serialNumber?: Buffer): Buffer {
  const { issuer, serial: own } = identityOf(der);
  return sequence(sequence(explicit(4, issuer)), serialNumber ?? own);
}

/** Reads issuer, serial and subject of a version 3 certificate. */
export function identityOf(der: Buffer): { issuer: Buffer; serial: Buffer; subject: Buffer } {
  const [, own, , issuer, , subject] = parts(parts(der)[0] ?? Buffer.alloc(0));
  if (own === undefined || issuer === undefined || subject === undefined) throw new Error('not a certificate');
  return { issuer, serial: own, subject };
}

export const statusInfo = (status: number, ...rest: Buffer[]) => sequence(integer(status), ...rest);
export const statusText = (text: string) => sequence(utf8(text));

/** Makes a token, or with a status a response, as the authority `signer` would, with changes. */
export function forge(signer: Issued, changes: Partial<Forgery> = {}): Buffer {
  const plan: Forgery = { ...usualPlan(signer), ...changes };
  const content = Buffer.concat([sequence(...plan.info(infoFields(plan))), plan.infoTail]);
  const { issuer, serial: own } = identityOf(signer.der);
  const attributes = plan.attributes({
    contentType: attribute(OID.contentType, oid(OID.tstInfo)),
    messageDigest: attribute(OID.messageDigest, octets(digestOf(plan.digest, content))),
    signingCertificate: attribute(OID.signingCertificateV2, sequence(sequence(certificateId('sha256', signer.der)))),
  });
  const signed = plan.signedAs === 'set' ? set(...attributes) : explicit(0, ...attributes);
  const one = sequence(
    integer(1),
    sequence(issuer, own),
    algorithm(OID[plan.digest], NULL),
    explicit(0, ...attributes),
    plan.signatureAlgorithm,
    octets(sign(plan.digest, signed, plan.signedWith)),
    ...(plan.unsigned.length === 0 ? [] : [explicit(1, ...plan.unsigned)]),
  );
  const signedData = sequence(
    integer(plan.version),
    set(...plan.announced.map((name) => algorithm(name, NULL))),
    sequence(oid(plan.contentType), explicit(0, octets(content))),
    ...(plan.certificates.length === 0 ? [] : [explicit(0, ...plan.certificates)]),
    set(...plan.signers(one)),
  );
  const token = sequence(oid(OID.signedData), explicit(0, signedData));
  return plan.status === null ? token : sequence(plan.status, token);
}

function usualPlan(signer: Issued): Forgery {
  return {
    imprint: digestOf('sha256', Buffer.from('an entry')),
    imprintAlgorithm: OID.sha256,
    genTime: '20260301120000Z',
    info: (fields) => fields,
    infoTail: Buffer.alloc(0),
    contentType: OID.tstInfo,
    version: 3,
    digest: 'sha256',
    announced: [OID.sha256],
    signatureAlgorithm: signer.key.asymmetricKeyType === 'rsa' ? algorithm(OID.rsa, NULL) : algorithm(OID.ecdsaSha256),
    certificates: [signer.der],
    attributes: ({ contentType, messageDigest, signingCertificate }) => [
      contentType,
      messageDigest,
      signingCertificate,
    ],
    signedWith: signer.key,
    signedAs: 'set',
    unsigned: [],
    signers: (one) => [one],
    status: null,
  };
}

function infoFields({ imprint, imprintAlgorithm, genTime }: Forgery): Buffer[] {
  const messageImprint = sequence(algorithm(imprintAlgorithm, NULL), octets(imprint));
  return [integer(1), oid('1.3.6.1.4.1.99999.1'), messageImprint, integer(0x2a), time(genTime)];
}

export { boolean, tlv };

import { type KeyObject, X509Certificate } from 'node:crypto';
import { EvidenceError } from '../errors.ts';
import { children, context, DerFields, type Element, expectTag, malformed, readDer, TAG } from './der.ts';
import { type GeneralName, type Name, readGeneralName, readName, sameName } from './names.ts';
import { readBits, readBoolean, readCount, readInteger, readOid } from './values.ts';

/** Parts of a certificate (RFC 5280 section 4.1) by which a path is judged. */
// Over ten members: the fields of the RFC.
export interface Certificate {
  /** OpenSSL's reading of the same bytes, for the signature, the dates and the key. */
  x509: X509Certificate;
  der: Uint8Array;
  issuer: Name;
  subject: Name;
  serial: bigint;
  /** Null if OpenSSL cannot read it. */
  key: KeyObject | null;
  basicConstraints: { ca: boolean; pathLength: number | null } | null;
  /** Numbers of the bits, as in RFC 5280 section 4.2.1.3. */
  keyUsage: readonly number[] | null;
  extendedKeyUsage: { critical: boolean; purposes: readonly string[] } | null;
  alternativeNames: readonly GeneralName[];
  /** Extensions that limit a path in a way that is not evaluated here. */
  notUnderstood: readonly string[];
}

export const KEY_USAGE = { digitalSignature: 0, nonRepudiation: 1, keyCertSign: 5 } as const;

const EXTENSION = {
  keyUsage: '2.5.29.15',
  alternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  policies: '2.5.29.32',
  extendedKeyUsage: '2.5.29.37',
} as const;
const UNDERSTOOD: ReadonlySet<string> = new Set(
  Object.values(EXTENSION).filter((oid) => oid !== EXTENSION.nameConstraints),
);
const VERSION_3 = 2n;
const MAX_PATH_LENGTH = 255;

/** @throws EvidenceError `unreadable` unless `der` is a certificate in DER, with each extension once. */
export function readCertificate(der: Uint8Array): Certificate {
  const x509 = parse(der);
  const [toBeSigned] = children(expectTag(readDer(der), TAG.sequence, 'a certificate'));
  if (toBeSigned === undefined) throw malformed('a certificate is empty');
  const fields = new DerFields(toBeSigned, 'a certificate');
  const version = fields.optional(context(0));
  const serial = readInteger(fields.take(TAG.integer, 'serialNumber'), 'the serial number of a certificate');
  fields.take(TAG.sequence, 'signature');
  const issuer = readName(fields.take(TAG.sequence, 'issuer'));
  fields.take(TAG.sequence, 'validity');
  const subject = readName(fields.take(TAG.sequence, 'subject'));
  fields.take(TAG.sequence, 'subjectPublicKeyInfo');
  fields.optional(0x81);
  fields.optional(0x82);
  const extensions = fields.optional(context(3));
  fields.end();
  if (extensions !== undefined && !isVersion3(version))
    throw malformed('a certificate before version 3 has extensions');
  return { x509, der, issuer, subject, serial, key: keyOf(x509), ...readExtensions(extensions) };
}

export function isSelfSigned(certificate: Certificate): boolean {
  return sameName(certificate.subject, certificate.issuer) && isCertifiedBy(certificate, certificate);
}

/** Reports whether one certificate is signed with the key of the other; names are not compared. */
export function isCertifiedBy({ x509 }: Certificate, { key }: Certificate): boolean {
  try {
    return key !== null && x509.verify(key);
  } catch {
    // The algorithm does not fit this key, or OpenSSL does not know it.
    return false;
  }
}

function parse(der: Uint8Array): X509Certificate {
  let x509: X509Certificate;
  try {
    x509 = new X509Certificate(der);
  } catch (cause) {
    throw new EvidenceError('unreadable', 'it contains a certificate that cannot be read', { cause });
  }
  // Node looks for PEM first, so it would read a PEM block inside a DER certificate in place of the certificate.
  if (Buffer.compare(x509.raw, der) !== 0) throw malformed('it contains a certificate that reads as other bytes');
  return x509;
}

function isVersion3(version: Element | undefined): boolean {
  const [number] = version === undefined ? [] : children(version);
  return number !== undefined && readInteger(number, 'the version of a certificate') === VERSION_3;
}

function keyOf(x509: X509Certificate): KeyObject | null {
  try {
    return x509.publicKey;
  } catch {
    return null;
  }
}

type ReadExtensions = Pick<
  Certificate,
  'basicConstraints' | 'keyUsage' | 'extendedKeyUsage' | 'alternativeNames' | 'notUnderstood'
>;

interface Extension {
  critical: boolean;
  value: Element;
}

function readExtensions(explicit: Element | undefined): ReadExtensions {
  const found = listExtensions(explicit);
  const basic = found.get(EXTENSION.basicConstraints);
  const usage = found.get(EXTENSION.keyUsage);
  const purposes = found.get(EXTENSION.extendedKeyUsage);
  const names = found.get(EXTENSION.alternativeName);
  return {
    basicConstraints: basic === undefined ? null : readBasicConstraints(basic.value),
    keyUsage: usage === undefined ? null : readBits(expectTag(usage.value, TAG.bitString, 'keyUsage'), 'keyUsage'),
    extendedKeyUsage:
      purposes === undefined ? null : { critical: purposes.critical, purposes: readPurposes(purposes.value) },
    alternativeNames: names === undefined ? [] : readAlternativeNames(names.value),
    // Name constraints apply even if not critical (RFC 5280 requires them to be critical, OpenSSL always applies them).
    notUnderstood: [...found].flatMap(([oid, { critical }]) =>
      (critical && !UNDERSTOOD.has(oid)) || oid === EXTENSION.nameConstraints ? [oid] : [],
    ),
  };
}

function listExtensions(explicit: Element | undefined): Map<string, Extension> {
  const found = new Map<string, Extension>();
  const [list] = explicit === undefined ? [] : children(explicit);
  for (const extension of list === undefined ? [] : children(list)) {
    const fields = new DerFields(extension, 'an extension of a certificate');
    const oid = readOid(fields.take(TAG.oid, 'identifier'), 'the identifier of an extension');
    const critical = fields.optional(TAG.boolean);
    const { content } = fields.take(TAG.octetString, 'value');
    fields.end();
    if (found.has(oid)) throw malformed(`a certificate has the extension ${oid} twice`);
    const known = UNDERSTOOD.has(oid);
    found.set(oid, {
      critical: critical !== undefined && readBoolean(critical, 'critical'),
      value: known ? readDer(content) : extension,
    });
  }
  return found;
}

function readBasicConstraints(value: Element): Certificate['basicConstraints'] {
  const fields = new DerFields(expectTag(value, TAG.sequence, 'basicConstraints'), 'basicConstraints');
  const ca = fields.optional(TAG.boolean);
  const length = fields.optional(TAG.integer);
  fields.end();
  return {
    ca: ca !== undefined && readBoolean(ca, 'cA'),
    pathLength: length === undefined ? null : readCount(length, MAX_PATH_LENGTH, 'pathLenConstraint'),
  };
}

function readAlternativeNames(value: Element): GeneralName[] {
  return children(expectTag(value, TAG.sequence, 'subjectAltName')).map(readGeneralName);
}

function readPurposes(value: Element): string[] {
  return children(expectTag(value, TAG.sequence, 'extKeyUsage')).map((purpose) =>
    readOid(expectTag(purpose, TAG.oid, 'a purpose of extKeyUsage'), 'a purpose of extKeyUsage'),
  );
}

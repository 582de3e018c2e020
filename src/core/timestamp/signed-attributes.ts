import { digestOf, readAlgorithm } from './algorithms.ts';
import { children, DerFields, type Element, expectTag, malformed, only, TAG } from './der.ts';
import { type Name, readGeneralName } from './names.ts';
import { readInteger, readOid } from './values.ts';

const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';
/** Algorithm of an ESSCertIDv2 that specifies none (RFC 5035 section 4). */
const DEFAULT_ALGORITHM = '2.16.840.1.101.3.4.2.1';

/** ESSCertID (RFC 2634 section 5.4) and ESSCertIDv2 (RFC 5035 section 4). */
export interface CertificateId {
  /**
   * `sha1` only in the first form, which has no other. It is accepted there because the certificate is checked
   * separately: replacing the certificate takes a second preimage, which SHA-1 still withstands, not a collision.
   */
  algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  hash: Uint8Array;
  issuerSerial: { issuer: Name; serial: bigint } | null;
}

export interface SignedAttributes {
  /** Signed bytes: tagged as a SET, not with the `[0]` of the token (RFC 5652 section 5.4). */
  signedBytes: Uint8Array;
  contentType: string;
  messageDigest: Uint8Array;
  /** One list per attribute that is present; the first id of a list names the signer's certificate. */
  certificateIds: readonly (readonly CertificateId[])[];
}

/**
 * @throws EvidenceError `unreadable` if an attribute that RFC 3161 requires is missing, repeated or has several values.
 */
export function readSignedAttributes(implicit: Element): SignedAttributes {
  const attributes = listAttributes(implicit);
  const value = (oid: string, tag: number, name: string): Element => {
    const values = attributes.get(oid);
    if (values === undefined) throw malformed(`its signed attributes lack ${name}`);
    return only(values, tag, `the signed attribute ${name}`);
  };
  const certificateIds: CertificateId[][] = [];
  if (attributes.has(SIGNING_CERTIFICATE))
    certificateIds.push(readIds(value(SIGNING_CERTIFICATE, TAG.sequence, 'signingCertificate'), readId));
  if (attributes.has(SIGNING_CERTIFICATE_V2))
    certificateIds.push(readIds(value(SIGNING_CERTIFICATE_V2, TAG.sequence, 'signingCertificateV2'), readIdV2));
  if (certificateIds.length === 0) throw malformed("its signed attributes do not name the signer's certificate");
  const signedBytes = Uint8Array.from(implicit.encoded);
  signedBytes[0] = TAG.set;
  return {
    signedBytes,
    contentType: readOid(value(CONTENT_TYPE, TAG.oid, 'contentType'), 'the signed attribute contentType'),
    messageDigest: value(MESSAGE_DIGEST, TAG.octetString, 'messageDigest').content,
    certificateIds,
  };
}

/** Returns the SET of values of each attribute by its type. */
export function listAttributes(implicit: Element): Map<string, Element> {
  const found = new Map<string, Element>();
  for (const attribute of children(implicit)) {
    const fields = new DerFields(expectTag(attribute, TAG.sequence, 'an attribute'), 'an attribute');
    const oid = readOid(fields.take(TAG.oid, 'type'), 'the type of an attribute');
    const values = fields.take(TAG.set, 'values');
    fields.end();
    if (found.has(oid)) throw malformed(`it has the attribute ${oid} twice`);
    found.set(oid, values);
  }
  return found;
}

/** Reads a SigningCertificate: the ids, then policies, which bind only their addressees. */
function readIds(attribute: Element, read: (id: DerFields) => CertificateId): CertificateId[] {
  const fields = new DerFields(attribute, 'signingCertificate');
  const ids = children(fields.take(TAG.sequence, 'certs'));
  fields.optional(TAG.sequence);
  fields.end();
  if (ids.length === 0) throw malformed('signingCertificate names no certificate');
  return ids.map((id) => {
    const parts = new DerFields(expectTag(id, TAG.sequence, 'ESSCertID'), 'ESSCertID');
    const found = read(parts);
    parts.end();
    return found;
  });
}

function readId(fields: DerFields): CertificateId {
  const { content: hash } = fields.take(TAG.octetString, 'certHash');
  return { algorithm: 'sha1', hash, issuerSerial: readIssuerSerial(fields.optional(TAG.sequence)) };
}

function readIdV2(fields: DerFields): CertificateId {
  const named = fields.optional(TAG.sequence);
  const oid = named === undefined ? DEFAULT_ALGORITHM : readAlgorithm(named, 'the algorithm of ESSCertIDv2');
  const algorithm = digestOf(oid)?.name;
  if (algorithm === undefined) throw malformed(`ESSCertIDv2 uses the algorithm ${oid}, which is not accepted`);
  const { content: hash } = fields.take(TAG.octetString, 'certHash');
  return { algorithm, hash, issuerSerial: readIssuerSerial(fields.optional(TAG.sequence)) };
}

function readIssuerSerial(element: Element | undefined): CertificateId['issuerSerial'] {
  if (element === undefined) return null;
  const fields = new DerFields(element, 'IssuerSerial');
  const names = fields.take(TAG.sequence, 'issuer');
  const serial = readInteger(fields.take(TAG.integer, 'serialNumber'), 'the serial number in ESSCertID');
  fields.end();
  const [name, ...more] = children(names).map(readGeneralName);
  if (!name?.directory || more.length > 0) throw malformed('the issuer in ESSCertID is not one directoryName');
  return { issuer: name.directory, serial };
}

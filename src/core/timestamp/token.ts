import { algorithmName, readAlgorithm } from './algorithms.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { children, context, DerFields, type Element, expectTag, malformed, only, readDer, TAG } from './der.ts';
import { escaped, type Name, readName } from './names.ts';
import { listAttributes, readSignedAttributes, type SignedAttributes } from './signed-attributes.ts';
import { readTstInfo, type TstInfo } from './tst-info.ts';
import { readBits, readInteger, readOid } from './values.ts';

/** PKIStatusInfo (RFC 3161 section 2.4.2). */
export interface ResponseStatus {
  status: bigint;
  /** Authority's text about the status; '' for none. */
  text: string;
  /** Numbers of the bits of PKIFailureInfo. */
  failures: readonly number[];
}

/** Single SignerInfo of a token (RFC 5652 section 5.3). */
export interface Signer {
  issuer: Name;
  serial: bigint;
  digestAlgorithm: string;
  attributes: SignedAttributes;
  signatureAlgorithm: string;
  signature: Uint8Array;
}

/** Content of a token, not trusted yet. */
export interface Token {
  info: TstInfo;
  /** DER of `info`, as signed. */
  content: Uint8Array;
  /** Certificates as carried, in order, each once. */
  certificates: readonly Certificate[];
  signer: Signer;
}

export interface TimeStampResponse {
  /** Null for a bare token. */
  status: ResponseStatus | null;
  /** Null only if the status does not grant one. */
  token: Token | null;
}

/** Maximum size of a token: ten times the size that authorities send with their chains. */
export const MAX_TOKEN_BYTES = 64 * 1024;

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';
/** Version 3 (RFC 5652 section 5.1), because the content is not of type id-data. */
const SIGNED_DATA_VERSION = 3n;
/** Version 1 (RFC 5652 section 5.3), because the signer is identified by issuer and serial number. */
const SIGNER_INFO_VERSION = 1n;
const MAX_CERTIFICATES = 16;

/** Reports whether a status grants the token: granted, or granted with modifications. */
export function isGranted({ status }: ResponseStatus): boolean {
  return status === 0n || status === 1n;
}

/**
 * Reads a TimeStampResp (RFC 3161 section 2.4.2) or the bare token from inside it.
 *
 * @throws EvidenceError `unreadable` with the fault: not DER, larger than `MAX_TOKEN_BYTES`, unexpected fields, another
 * content than TSTInfo, or several signers.
 */
export function readResponse(der: Uint8Array): TimeStampResponse {
  if (der.length > MAX_TOKEN_BYTES) throw malformed(`it has ${der.length} bytes, more than ${MAX_TOKEN_BYTES}`);
  const root = expectTag(readDer(der), TAG.sequence, 'the whole');
  if (children(root)[0]?.tag === TAG.oid) return { status: null, token: readToken(root) };
  const fields = new DerFields(root, 'TimeStampResp');
  const status = readStatus(fields.take(TAG.sequence, 'status'));
  const token = fields.optional(TAG.sequence);
  fields.end();
  if (token === undefined && isGranted(status)) throw malformed('its status grants a token, but there is none');
  return { status, token: token === undefined ? null : readToken(token) };
}

function readStatus(element: Element): ResponseStatus {
  const fields = new DerFields(element, 'PKIStatusInfo');
  const status = readInteger(fields.take(TAG.integer, 'status'), 'the status');
  const texts = fields.optional(TAG.sequence);
  const failures = fields.optional(TAG.bitString);
  fields.end();
  const lines = (texts === undefined ? [] : children(texts)).map((line) => {
    const { content } = expectTag(line, TAG.utf8String, 'the text of the status');
    return escaped(new TextDecoder().decode(content));
  });
  return { status, text: lines.join('; '), failures: failures === undefined ? [] : readBits(failures, 'failInfo') };
}

function readToken(contentInfo: Element): Token {
  const outer = new DerFields(contentInfo, 'ContentInfo');
  expectOid(outer.take(TAG.oid, 'contentType'), SIGNED_DATA, 'the token');
  const signedData = only(outer.take(context(0), 'content'), TAG.sequence, 'the content of the token');
  outer.end();
  const fields = new DerFields(signedData, 'SignedData');
  expectVersion(fields.take(TAG.integer, 'version'), SIGNED_DATA_VERSION, 'SignedData');
  const algorithms = readDigestAlgorithms(fields.take(TAG.set, 'digestAlgorithms'));
  const content = readContent(fields.take(TAG.sequence, 'encapContentInfo'));
  const certificates = readCertificates(fields.optional(context(0)));
  const revocations = fields.optional(context(1));
  const signer = readSigner(only(fields.take(TAG.set, 'signerInfos'), TAG.sequence, 'the list of signers'));
  fields.end();
  // Revocation lists are not used: they are outside of the signed bytes, and a pinned root needs only its signature.
  for (const list of revocations === undefined ? [] : children(revocations))
    expectTag(list, TAG.sequence, 'a revocation list');
  if (!algorithms.includes(signer.digestAlgorithm))
    throw malformed(`SignedData does not announce the digest ${algorithmName(signer.digestAlgorithm)} of its signer`);
  return { info: readTstInfo(content), content, certificates, signer };
}

function readDigestAlgorithms(set: Element): string[] {
  return children(set).map((algorithm) =>
    readAlgorithm(expectTag(algorithm, TAG.sequence, 'a digest algorithm'), 'a digest algorithm'),
  );
}

/** Returns the octets of the TSTInfo, which are primitive, as `readDer` has made sure. */
function readContent(encapsulated: Element): Uint8Array {
  const fields = new DerFields(encapsulated, 'encapContentInfo');
  expectOid(fields.take(TAG.oid, 'eContentType'), TST_INFO, 'its signed content');
  const { content } = only(fields.take(context(0), 'eContent'), TAG.octetString, 'its signed content');
  fields.end();
  return content;
}

function readCertificates(implicit: Element | undefined): Certificate[] {
  const found = implicit === undefined ? [] : children(implicit);
  if (found.length > MAX_CERTIFICATES) throw malformed(`it carries ${found.length} certificates`);
  const different = new Map(found.map((element) => [Buffer.from(element.encoded).toString('latin1'), element]));
  return [...different.values()].map((element) =>
    readCertificate(expectTag(element, TAG.sequence, 'a certificate').encoded),
  );
}

function readSigner(signerInfo: Element): Signer {
  const fields = new DerFields(signerInfo, 'SignerInfo');
  expectVersion(fields.take(TAG.integer, 'version'), SIGNER_INFO_VERSION, 'SignerInfo');
  const id = new DerFields(fields.take(TAG.sequence, 'issuerAndSerialNumber'), 'issuerAndSerialNumber');
  const issuer = readName(id.take(TAG.sequence, 'issuer'));
  const serial = readInteger(id.take(TAG.integer, 'serialNumber'), "the serial number of the signer's certificate");
  id.end();
  const digestAlgorithm = readAlgorithm(fields.take(TAG.sequence, 'digestAlgorithm'), "the signer's digest algorithm");
  const attributes = readSignedAttributes(fields.take(context(0), 'signedAttrs'));
  const signatureAlgorithm = readAlgorithm(fields.take(TAG.sequence, 'signatureAlgorithm'), 'signatureAlgorithm');
  const { content: signature } = fields.take(TAG.octetString, 'signature');
  const unsigned = fields.optional(context(1));
  fields.end();
  if (unsigned !== undefined) listAttributes(unsigned);
  if (attributes.contentType !== TST_INFO)
    throw malformed(`its signed attribute contentType is ${attributes.contentType}`);
  return { issuer, serial, digestAlgorithm, attributes, signatureAlgorithm, signature };
}

function expectOid(element: Element, oid: string, what: string): void {
  const found = readOid(element, `the type of ${what}`);
  if (found !== oid) throw malformed(`${what} is of type ${found}, not ${oid}`);
}

function expectVersion(element: Element, version: bigint, what: string): void {
  const found = readInteger(element, `the version of ${what}`);
  if (found !== version) throw malformed(`${what} is of version ${found}, not ${version}`);
}

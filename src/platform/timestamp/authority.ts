import { createHash, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError, isSystemError, messageOf } from '../../core/errors.ts';
import { issueAuthorityCertificates } from './certificates.ts';
import { SHA256, SIGNED_DATA, type TimestampAuthority, TST_INFO, toImprint } from './exchange.ts';

/** URN of the authority, which has no address because only this platform can use it. */
const DEVELOPMENT_URL = 'urn:evidence-platform:development-authority';
const ROOT_FILE = 'root.pem';
const CERTIFICATE_FILE = 'tsa.pem';
const KEY_FILE = 'tsa.key';

/**
 * Creates an authority in the folder `dir`: `root.pem`, the root that verifiers pin, and `tsa.pem` with `tsa.key`
 * (0600), which sign.
 *
 * @throws EvidenceError `config` if the folder already contains one, whose tokens must stay verifiable.
 */
export async function createDevelopmentAuthority(dir: string): Promise<void> {
  const { rootPem, authorityPem, authorityKeyPem } = await issueAuthorityCertificates(new Date());
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    await writeFile(join(dir, KEY_FILE), authorityKeyPem, { flag: 'wx', mode: 0o600 });
    await writeFile(join(dir, CERTIFICATE_FILE), authorityPem, { flag: 'wx' });
    await writeFile(join(dir, ROOT_FILE), rootPem, { flag: 'wx' });
  } catch (cause) {
    if (!isSystemError(cause) || cause.code !== 'EEXIST') throw cause;
    throw new EvidenceError('config', `${dir} already holds a development time-stamping authority, which stays`, {
      nextStep: 'Use that authority, or name another folder.',
      cause,
    });
  }
}

/** @throws EvidenceError `not-found` or `unreadable` if `dir` does not contain an authority that can sign. */
export async function openDevelopmentAuthority(
  dir: string,
  clock: () => Date = () => new Date(),
): Promise<TimestampAuthority> {
  const signer = await readSigner(dir);
  return {
    kind: 'development',
    url: DEVELOPMENT_URL,
    stamp: async (digestHex) => {
      const digest = toImprint(digestHex);
      const genTime = clock();
      return { token: await issueToken(signer, digest, genTime), genTime };
    },
  };
}

async function readSigner(dir: string): Promise<TokenSigner> {
  try {
    const certificate = new X509Certificate(await readFile(join(dir, CERTIFICATE_FILE)));
    const pem = await readFile(join(dir, KEY_FILE), 'utf8');
    return { certificate: certificate.raw, key: Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64') };
  } catch (cause) {
    const missing = isSystemError(cause) && cause.code === 'ENOENT';
    throw new EvidenceError(
      missing ? 'not-found' : 'unreadable',
      missing ? `${dir} holds no development authority` : `the authority in ${dir} cannot be read: ${messageOf(cause)}`,
      { nextStep: 'Create it with `evidence-platform init --data DIR`, or restore the folder from a backup.', cause },
    );
  }
}

/**
 * Policy in the arc that RFC examples and openssl's test configuration use; it promises nothing, like the authority.
 */
const POLICY = '1.3.6.1.4.1.99999.1';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';

/** Version 3, because the content is not of type id-data: RFC 5652 section 5.1. */
const SIGNED_DATA_VERSION = 3;
const ACCURACY_SECONDS = 1;

export interface TokenSigner {
  /** DER of the certificate that is included in every token. */
  certificate: Buffer;
  /** PKCS #8 DER of its P-256 key. */
  key: Buffer;
}

/** @returns the DER of a TimeStampResp (RFC 3161 section 2.4.2) that grants a token for the digest at `genTime`. */
export async function issueToken(signer: TokenSigner, digest: Buffer, genTime: Date): Promise<Buffer> {
  const pkijs = await import('pkijs');
  const asn1 = await import('asn1js');
  const certificate = pkijs.Certificate.fromBER(signer.certificate);
  const tstInfo = await encodeTstInfo(digest, genTime);
  const encapContentInfo = new pkijs.EncapsulatedContentInfo({ eContentType: TST_INFO });
  // Set afterwards, because pkijs's constructor would make a constructed string, which DER does not allow (X.690 10.2).
  encapContentInfo.eContent = new asn1.OctetString({ valueHex: tstInfo });
  const signedData = new pkijs.SignedData({
    version: SIGNED_DATA_VERSION,
    encapContentInfo,
    certificates: [certificate],
    signerInfos: [
      new pkijs.SignerInfo({
        version: 1,
        sid: new pkijs.IssuerAndSerialNumber({ issuer: certificate.issuer, serialNumber: certificate.serialNumber }),
        signedAttrs: new pkijs.SignedAndUnsignedAttributes({
          type: 0,
          attributes: await signedAttributes(tstInfo, signer.certificate),
        }),
      }),
    ],
  });
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await webcrypto.subtle.importKey('pkcs8', signer.key, algorithm, false, ['sign']);
  // Passed explicitly, because pkijs otherwise uses one global engine for the whole process.
  const engine = new pkijs.CryptoEngine({ name: 'node', crypto: webcrypto });
  await signedData.sign(key, 0, 'SHA-256', undefined, engine);
  const response = new pkijs.TimeStampResp({
    status: new pkijs.PKIStatusInfo({ status: pkijs.PKIStatus.granted }),
    timeStampToken: new pkijs.ContentInfo({ contentType: SIGNED_DATA, content: signedData.toSchema(true) }),
  });
  return Buffer.from(response.toSchema().toBER());
}

/**
 * Encodes the TSTInfo of RFC 3161 section 2.4.2. The serial number is 127 random bits, so there is no counter that a
 * restore could rewind.
 */
async function encodeTstInfo(digest: Buffer, genTime: Date): Promise<ArrayBuffer> {
  const pkijs = await import('pkijs');
  const asn1 = await import('asn1js');
  const serialNumber = asn1.Integer.fromBigInt(BigInt(`0x${randomBytes(16).toString('hex')}`) >> 1n);
  return new pkijs.TSTInfo({
    version: 1,
    policy: POLICY,
    messageImprint: new pkijs.MessageImprint({
      hashAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: SHA256, algorithmParams: new asn1.Null() }),
      hashedMessage: new asn1.OctetString({ valueHex: digest }),
    }),
    serialNumber,
    genTime,
    accuracy: new pkijs.Accuracy({ seconds: ACCURACY_SECONDS }),
  })
    .toSchema()
    .toBER();
}

async function signedAttributes(tstInfo: ArrayBuffer, certificate: Buffer) {
  const pkijs = await import('pkijs');
  const asn1 = await import('asn1js');
  // RFC 5035 section 4: SEQUENCE of certs, each an ESSCertIDv2, whose hash algorithm defaults to SHA-256.
  const essCertId = new asn1.Sequence({ value: [new asn1.OctetString({ valueHex: sha256(certificate) })] });
  const signingCertificate = new asn1.Sequence({ value: [new asn1.Sequence({ value: [essCertId] })] });
  const messageDigest = new asn1.OctetString({ valueHex: sha256(Buffer.from(tstInfo)) });
  const attributes = [
    new pkijs.Attribute({ type: CONTENT_TYPE, values: [new asn1.ObjectIdentifier({ value: TST_INFO })] }),
    new pkijs.Attribute({ type: MESSAGE_DIGEST, values: [messageDigest] }),
    new pkijs.Attribute({ type: SIGNING_CERTIFICATE_V2, values: [signingCertificate] }),
  ];
  // Attributes are signed as a DER SET OF, whose elements are ordered by their encodings (X.690 11.6).
  const encoded = attributes.map((attribute) => ({ attribute, der: Buffer.from(attribute.toSchema().toBER()) }));
  return encoded.sort((a, b) => Buffer.compare(a.der, b.der)).map(({ attribute }) => attribute);
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

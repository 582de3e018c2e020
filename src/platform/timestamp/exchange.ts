import { EvidenceError, messageOf } from '../../core/errors.ts';
import { AUTHORITY_COMMON_NAME } from './certificates.ts';

/** Binds a digest to a time, by RFC 3161. */
export interface TimestampAuthority {
  /** `development`: built into the platform, and so no witness independent of it. */
  readonly kind: 'external' | 'development';
  readonly url: string;
  /**
   * @param digestHex a SHA-256 digest, 64 hex digits: the token's message imprint, as it is.
   * @returns `token`, the DER of a TimeStampResp (section 2.4.2), and the time it states.
   */
  stamp(digestHex: string): Promise<{ token: Uint8Array; genTime: Date }>;
}

/** @throws EvidenceError `usage` unless `hex` is a SHA-256 digest as 64 hex digits. */
export function toImprint(hex: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(hex)) return Buffer.from(hex, 'hex');
  throw new EvidenceError('usage', 'what is to be time-stamped is not a SHA-256 digest of 64 hex digits');
}

export const SHA256 = '2.16.840.1.101.3.4.2.1';
export const SIGNED_DATA = '1.2.840.113549.1.7.2';
const COMMON_NAME = '2.5.4.3';
export const TST_INFO = '1.2.840.113549.1.9.16.1.4';

interface Asked {
  /** The SHA-256 digest to be stamped. */
  imprint: Buffer;
  /** Ties the answer to the question: without it, an old answer could be replayed. */
  nonce: Buffer;
}

/** The DER of a TimeStampReq (RFC 3161 section 2.4.1) that asks for the authority's certificate too. */
export async function encodeRequest({ imprint, nonce }: Asked): Promise<Buffer> {
  const pkijs = await import('pkijs');
  const asn1 = await import('asn1js');
  const query = new pkijs.TimeStampReq({
    version: 1,
    messageImprint: new pkijs.MessageImprint({
      hashAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: SHA256, algorithmParams: new asn1.Null() }),
      hashedMessage: new asn1.OctetString({ valueHex: imprint }),
    }),
    nonce: asn1.Integer.fromBigInt(toInteger(nonce)),
    certReq: true,
  });
  return Buffer.from(query.toSchema().toBER());
}

/**
 * @param authority named in errors.
 * @param der a TimeStampResp (RFC 3161 section 2.4.2).
 * @returns the time it states.
 * @throws EvidenceError `service` unless it grants what was asked.
 */
export async function readGrantedTime(authority: string, der: Buffer, asked: Asked): Promise<Date> {
  const refuse = (what: string, cause?: unknown): EvidenceError =>
    new EvidenceError('service', `the time-stamping authority ${authority} ${what}`, {
      nextStep: 'Try another --tsa-url; the checkpoint stays pending and is tried again.',
      cause,
    });
  const { status, tstInfo } = await parseResponse(der).catch((cause: unknown) => {
    throw refuse(`answered what is not a TimeStampResp: ${messageOf(cause)}`, cause);
  });
  if (tstInfo === undefined) throw refuse(`did not grant the time-stamp (PKIStatus ${status})`);
  const { hashAlgorithm, hashedMessage } = tstInfo.messageImprint;
  if (hashAlgorithm.algorithmId !== SHA256 || !asked.imprint.equals(hashedMessage.valueBlock.valueHexView)) {
    throw refuse('stamped another digest than the one that was asked for');
  }
  if (tstInfo.nonce === undefined || tstInfo.nonce.toBigInt() !== toInteger(asked.nonce)) {
    throw refuse('answered with another nonce than the one that was sent');
  }
  return tstInfo.genTime;
}

/**
 * Returns what a TimeStampResp grants, if anything, and the names (CN) that the certificates in it have.
 * @throws Error for anything else.
 */
export async function parseResponse(der: Buffer) {
  const pkijs = await import('pkijs');
  const asn1 = await import('asn1js');
  const { offset, result } = asn1.fromBER(der);
  if (offset !== der.length) throw new Error(result.error || 'there is something after its end');
  const response = new pkijs.TimeStampResp({ schema: result });
  const status: number = response.status.status;
  const isGranted = status === pkijs.PKIStatus.granted || status === pkijs.PKIStatus.grantedWithMods;
  if (!isGranted) return { status, tstInfo: undefined, signers: [] };
  if (response.timeStampToken?.contentType !== SIGNED_DATA) throw new Error('its token is not signed data');
  const { encapContentInfo, certificates = [] } = new pkijs.SignedData({ schema: response.timeStampToken.content });
  if (encapContentInfo.eContentType !== TST_INFO || encapContentInfo.eContent === undefined) {
    throw new Error('its token is not a time-stamp');
  }
  const signers = certificates.flatMap((each) => (each instanceof pkijs.Certificate ? commonNamesOf(each) : []));
  return { status, tstInfo: pkijs.TSTInfo.fromBER(encapContentInfo.eContent.getValue()), signers };
}

function commonNamesOf({ subject }: import('pkijs').Certificate): string[] {
  const names = subject.typesAndValues.filter(({ type }) => type === COMMON_NAME);
  return names.map(({ value }) => String(value.valueBlock.value));
}

function toInteger(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

/** The statements of a time stamp. They do not tell whether its signature holds: that is for those who pin the authority's root. */
export interface StatedStamp {
  /** Hex of the digest that was stamped. */
  imprint: string;
  genTime: Date;
  /** True if a development authority gave it, of this platform or another one. */
  isDevelopment: boolean;
}

/** Reads the DER of a TimeStampResp; null for anything else, or one that grants nothing. */
export async function readStamp(der: Uint8Array): Promise<StatedStamp | null> {
  const response = await parseResponse(Buffer.from(der)).catch(() => null);
  if (response?.tstInfo === undefined) return null;
  const { messageImprint, genTime } = response.tstInfo;
  return {
    imprint: Buffer.from(messageImprint.hashedMessage.valueBlock.valueHexView).toString('hex'),
    genTime,
    isDevelopment: response.signers.includes(AUTHORITY_COMMON_NAME),
  };
}

import { EvidenceError, messageOf } from '../../core/errors.ts';
import { AUTHORITY_COMMON_NAME } from './certificates.ts';

/** Time-stamping authority, which binds a digest to a time by RFC 3161. */
export interface TimestampAuthority {
  /** Kind of authority. `development` is built into the platform, and thus not an independent witness. */
  readonly kind: 'external' | 'development';
  readonly url: string;
  /**
   * @param digestHex a SHA-256 digest in 64 hex digits, which becomes the token's message imprint unchanged.
   * @returns `token`, the DER of a TimeStampResp (section 2.4.2), and the time that it states.
   */
  stamp(digestHex: string): Promise<{ token: Uint8Array; genTime: Date }>;
}

/** @throws EvidenceError `usage` unless `hex` is a SHA-256 digest in 64 hex digits. */
export function toImprint(hex: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(hex)) return Buffer.from(hex, 'hex');
  throw new EvidenceError('usage', 'what is to be time-stamped is not a SHA-256 digest of 64 hex digits');
}

export const SHA256 = '2.16.840.1.101.3.4.2.1';
export const SIGNED_DATA = '1.2.840.113549.1.7.2';
const COMMON_NAME = '2.5.4.3';
export const TST_INFO = '1.2.840.113549.1.9.16.1.4';

interface Asked {
  /** SHA-256 digest to be stamped. */
  imprint: Buffer;
  /** Nonce that ties the answer to the request; without it, an old answer could be replayed. */
  nonce: Buffer;
}

/** Returns the DER of a TimeStampReq (RFC 3161 section 2.4.1) that also requests the authority's certificate. */
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
 * @param authority name in errors.
 * @param der a TimeStampResp (RFC 3161 section 2.4.2).
 * @returns the time that it states.
 * @throws EvidenceError `service` unless it grants the request.
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
  if (hashAlgorithm.algorithmId !== SHA256 || !asked.imprint.equals(hashedMessage.valueBlock.valueHexView))
    throw refuse('stamped another digest than the one that was asked for');
  if (tstInfo.nonce === undefined || tstInfo.nonce.toBigInt() !== toInteger(asked.nonce))
    throw refuse('answered with another nonce than the one that was sent');
  return tstInfo.genTime;
}

/**
 * Returns the contents of a granted TimeStampResp, and the common names of its certificates.
 * @throws Error if the DER is invalid.
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
  if (encapContentInfo.eContentType !== TST_INFO || encapContentInfo.eContent === undefined)
    throw new Error('its token is not a time-stamp');
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

/** Statements of a timestamp. Its signature is not checked here, but by verifiers that pin the authority's root. */
export interface StatedStamp {
  /** Hex of the stamped digest. */
  imprint: string;
  genTime: Date;
  /** True if a development authority issued it, of this or another platform. */
  isDevelopment: boolean;
}

/** Reads the DER of a TimeStampResp; null if it is invalid or grants nothing. */
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

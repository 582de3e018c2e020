import { AUTHORITY_COMMON_NAME } from './certificates.ts';
import { parseResponse } from './exchange.ts';

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

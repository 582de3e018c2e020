/** X.690: how certificates and lists are written, for what there may be many thousands of. */

export const DER_TAGS = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  enumerated: 0x0a,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  context0: 0xa0,
} as const;

export function der(tag: keyof typeof DER_TAGS, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([DER_TAGS[tag]]), lengthOf(content), content]);
}

/** Section 8.1.3: short up to 127, else the number of its bytes before it. */
function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const shortest = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.from([0x80 | shortest.length]), shortest]);
}

/** Section 8.3: a number that is not negative. @param hex with or without a zero before it. */
export function derInteger(hex: string): Buffer {
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return der('integer', (bytes[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** RFC 5280 section 4.1.2.5: with two digits of the year until 2049. */
export function derTime(time: Date): Buffer {
  const digits = `${time.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  if (time.getUTCFullYear() < 2050) return der('utcTime', Buffer.from(digits.slice(2)));
  return der('generalizedTime', Buffer.from(digits));
}

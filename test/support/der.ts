/** Writes DER (X.690) for tokens that no honest program makes. Independent of the reader under test. */
export function tlv(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const digits = content.length.toString(16);
  const length = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
}

export const sequence = (...parts: Uint8Array[]) => tlv(0x30, ...parts);
export const set = (...parts: Uint8Array[]) => tlv(0x31, ...parts);
export const explicit = (number: number, ...parts: Uint8Array[]) => tlv(0xa0 | number, ...parts);
export const octets = (bytes: Uint8Array) => tlv(0x04, bytes);
export const boolean = (value: boolean) => tlv(0x01, Buffer.from([value ? 0xff : 0]));
export const NULL = tlv(0x05);
export const utf8 = (text: string) => tlv(0x0c, Buffer.from(text));
export const time = (text: string) => tlv(0x18, Buffer.from(text));

/** Encodes a non-negative number. */
export function integer(value: number | bigint, tag = 0x02): Buffer {
  const digits = value.toString(16);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  return tlv(tag, bytes.readUInt8(0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number % 128];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left % 128) | 0x80);
    return groups;
  });
  return tlv(0x06, Buffer.from(bytes));
}

export const algorithm = (dotted: string, parameters?: Uint8Array) =>
  sequence(oid(dotted), ...(parameters === undefined ? [] : [parameters]));

/** Returns the parts of a constructed value, with lengths of up to two octets. */
export function parts(der: Uint8Array): Buffer[] {
  const bytes = Buffer.from(der);
  const found: Buffer[] = [];
  for (let at = headerOf(bytes, 0).size; at < bytes.length; ) {
    const { size, length } = headerOf(bytes, at);
    found.push(bytes.subarray(at, at + size + length));
    at += size + length;
  }
  return found;
}

function headerOf(bytes: Buffer, at: number): { size: number; length: number } {
  const first = bytes.readUInt8(at + 1);
  if (first < 0x80) return { size: 2, length: first };
  const octets = first - 0x80;
  return { size: 2 + octets, length: bytes.readUIntBE(at + 2, octets) };
}

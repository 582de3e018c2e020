import { createHash } from 'node:crypto';

/** The namespace of all names here, drawn once at random. */
const NAMESPACE = Buffer.from('7f0a4c1e5d3b4b7f9a5e2c8d61f0b394', 'hex');

/** RFC 9562 section 5.5: a version 5 UUID, the same for the same name. */
export function uuidOf(...name: readonly string[]): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(JSON.stringify(name)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

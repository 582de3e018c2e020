import { createHash } from 'node:crypto';

/** Converts text to OSCAL's single-line string: not empty, trimmed, with spaces as the only white space. */
export function line(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return plain === '' ? '–' : plain;
}

/** Escapes Markdown, so that text from outside cannot form a list, a heading or a link. */
export function paragraph(text: string): string {
  return line(text).replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}

/** Converts an id to an OSCAL token, which begins with a letter or an underscore. */
export function toToken(id: string): string {
  const token = id.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/-+$/, '');
  return /^[\p{L}_]/u.test(token) ? token : `c-${token}`;
}

/** Namespace of all name-based UUIDs here; a random UUID, chosen once. */
const NAMESPACE = Buffer.from('7f0a4c1e5d3b4b7f9a5e2c8d61f0b394', 'hex');

/** Returns a version 5 UUID (RFC 9562 section 5.5): the same for the same name. */
export function uuidOf(...name: readonly string[]): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(JSON.stringify(name)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

import { inflateSync } from 'node:zlib';

/** Of all streams together: work that a document of ordinary making never asks for. */
const MAX_TOTAL_BYTES = 2 ** 30;
/** A stream within a stream within a stream; more is made to harm. */
const MAX_NESTING = 3;

/**
 * Whether a deflated stream of the document inflates to more than `limit` bytes. The PDF library inflates whole streams
 * into memory, so of 13 KB it would make gigabytes; here zlib stops at the limit.
 */
export function inflatesBeyond(document: Uint8Array, limit: number): boolean {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  let total = 0;
  for (const start of deflatedStreams(bytes)) {
    const size = inflatedSize(bytes.subarray(start), limit, 0);
    total += size;
    if (size > limit || total > MAX_TOTAL_BYTES) return true;
  }
  return false;
}

/** Filters that zlib bounds, or that are of images, which nobody decodes for their text. */
const BOUNDED_NAME = '/(?:FlateDecode|Fl|DCTDecode|DCT|JPXDecode|CCITTFaxDecode|CCF|JBIG2Decode)(?![A-Za-z0-9])\\s*';
const BOUNDED_FILTER = new RegExp(`^/Filter\\s*(?:\\[\\s*(?:${BOUNDED_NAME})*\\]|${BOUNDED_NAME}(?:/|>>))`);

/** How far before its data the dictionary of a stream may begin. */
const MAX_DICTIONARY_BYTES = 4096;

/**
 * Whether a stream is packed in a way that `inflatesBeyond` cannot look into: by another filter (LZW, ASCII85 around
 * deflate), by a filter that stands elsewhere, or by a name in disguise (`/F#69lter`). The dictionary of a stream always
 * stands before it in the open: ISO 32000-1 section 7.5.7 allows no stream within another.
 */
export function isPackedOtherwise(document: Uint8Array): boolean {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  for (let at = bytes.indexOf('stream'); at !== -1; at = bytes.indexOf('stream', at + 6)) {
    if (bytes.subarray(at - 3, at).toString('latin1') === 'end') continue;
    const before = bytes.subarray(Math.max(0, at - MAX_DICTIONARY_BYTES), at).toString('latin1');
    // The word within the data of a stream or a text is no stream: no dictionary ends there.
    if (!/>>\s*$/.test(before)) continue;
    const start = before.lastIndexOf('obj');
    if (start === -1) return true;
    const dictionary = before.slice(start);
    if (dictionary.includes('#')) return true;
    for (const { index } of dictionary.matchAll(/\/Filter/g))
      if (!BOUNDED_FILTER.test(dictionary.slice(index))) return true;
  }
  return false;
}

/** Where the data of streams begins, ISO 32000-1 section 7.3.8.1, that starts as RFC 1950 says. */
function* deflatedStreams(bytes: Buffer): Generator<number> {
  for (let at = bytes.indexOf('stream'); at !== -1; at = bytes.indexOf('stream', at + 6)) {
    let start = at + 6;
    if (bytes[start] === 0x0d) start++;
    if (bytes[start] === 0x0a) start++;
    if (isDeflated(bytes, start)) yield start;
  }
}

function isDeflated(bytes: Buffer, start: number): boolean {
  const method = bytes[start] ?? 0;
  return (method & 0x0f) === 8 && ((method << 8) + (bytes[start + 1] ?? 0)) % 31 === 0;
}

function inflatedSize(bytes: Buffer, limit: number, depth: number): number {
  let content: Buffer;
  try {
    content = inflateSync(bytes, { maxOutputLength: limit });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? limit + 1 : 0;
  }
  if (!isDeflated(content, 0)) return content.length;
  return depth === MAX_NESTING ? limit + 1 : content.length + inflatedSize(content, limit, depth + 1);
}

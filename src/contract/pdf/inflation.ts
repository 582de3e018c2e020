import { promisify } from 'node:util';
import { inflate } from 'node:zlib';

const inflated = promisify(inflate);

/** Of all streams together: work that a document of ordinary making never asks for. */
const MAX_TOTAL_BYTES = 2 ** 30;
/** A stream within a stream within a stream; more is made to harm. */
const MAX_NESTING = 3;

/**
 * Whether a deflated stream of the document inflates to more than `limit` bytes. The PDF library inflates whole streams
 * into memory, so of 13 KB it would make gigabytes; here zlib stops at the limit. Streams packed otherwise (LZW,
 * ASCII85 around deflate) pass unexamined.
 */
export async function inflatesBeyond(document: Uint8Array, limit: number): Promise<boolean> {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
  let total = 0;
  for (const start of deflatedStreams(bytes)) {
    const size = await inflatedSize(bytes.subarray(start), limit, 0);
    total += size;
    if (size > limit || total > MAX_TOTAL_BYTES) return true;
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

async function inflatedSize(bytes: Buffer, limit: number, depth: number): Promise<number> {
  let content: Buffer;
  try {
    content = await inflated(bytes, { maxOutputLength: limit });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? limit + 1 : 0;
  }
  if (!isDeflated(content, 0)) return content.length;
  return depth === MAX_NESTING ? limit + 1 : content.length + (await inflatedSize(content, limit, depth + 1));
}

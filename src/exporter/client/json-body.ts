import { isUtf8 } from 'node:buffer';
import { MAX_DEPTH } from '../../core/json/canonical.ts';
import { type ExactJson, parseExactJson } from '../../core/json/exact.ts';

/** What a JSON text says, or why it says nothing, in words that go on from "but". */
export type ReadBody = ExactJson | { why: string };
/** Makes something of a body, which is valid until it returns. */
export type ReadPage = (body: Uint8Array) => ReadBody;

export function readJsonBody(body: Uint8Array): ReadBody {
  // JSON.parse is happy with 64 MiB of brackets, for 3 GB of memory: depth is counted before.
  if (isTooDeep(body)) return { why: `this is nested deeper than ${MAX_DEPTH} levels` };
  if (!isUtf8(body)) return { why: 'this is not JSON' };
  try {
    return parseExactJson(withoutByteOrderMark(body));
  } catch {
    return { why: 'this is not JSON' };
  }
}

/** RFC 8259 section 8.1 lets a reader overlook it. */
function withoutByteOrderMark(body: Uint8Array): Uint8Array {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

function isTooDeep(body: Uint8Array): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (inString) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}

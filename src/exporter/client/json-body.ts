import { isUtf8 } from 'node:buffer';
import { getHeapStatistics } from 'node:v8';
import { withoutByteOrderMark } from '../../core/bytes.ts';
import { MAX_DEPTH } from '../../core/json/canonical.ts';
import { type ExactJson, parseExactJson } from '../../core/json/exact.ts';

/** The value of a JSON text, or the reason why it has none, in words that go on from "but". */
export type ReadBody = ExactJson | { why: string };
/** Makes something of a body, which is valid until it returns. */
export type ReadPage = (body: Uint8Array) => ReadBody;

/** No page that anybody asks for has more. */
const MAX_VALUES = 1_000_000;
/** Heap that a value takes at most, the name of its member included: measured with objects of a million names. */
const VALUE_BYTES = 350;

export function readJsonBody(body: Uint8Array): ReadBody {
  // JSON.parse is happy with 64 MiB of brackets, for 3 GB of memory: look at depth, number and memory first.
  const { depth, values } = sizeOf(body);
  if (depth > MAX_DEPTH) return { why: `this is nested deeper than ${MAX_DEPTH} levels` };
  if (values > MAX_VALUES) return { why: `this has more than ${MAX_VALUES} values` };
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
  if (values * VALUE_BYTES + body.length > limit - used)
    return { why: `to read this takes more memory than Node.js may use (${Math.round(limit / 2 ** 20)} MiB)` };
  if (!isUtf8(body)) return { why: 'this is not JSON' };
  try {
    return parseExactJson(withoutByteOrderMark(body));
  } catch {
    return { why: 'this is not JSON' };
  }
}

/** Counts no further than a document may go. */
function sizeOf(body: Uint8Array): { depth: number; values: number } {
  let [depth, values, inString] = [0, 1, false];
  for (let at = 0; at < body.length && depth <= MAX_DEPTH && values <= MAX_VALUES; at++) {
    const byte = body[at];
    if (inString) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x2c) values++;
    else if (byte === 0x5b || byte === 0x7b) {
      depth++;
      values++;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return { depth, values };
}

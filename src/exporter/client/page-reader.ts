import { isUtf8 } from 'node:buffer';
import { getHeapStatistics } from 'node:v8';
import { withoutByteOrderMark } from '../../core/bytes.ts';
import { MAX_DEPTH } from '../../core/json/canonical.ts';
import { type ExactJson, parseExactJson } from '../../core/json/exact.ts';
import { itemsOf } from '../../verifier/profile/answers.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import { namesOf } from '../../verifier/profile/path.ts';

/** Items that the caller already has and expects next in a list. */
export interface KnownItems {
  /**
   * Matches as many known items as `text` contains from `at` on, byte by byte, each but the first after a comma. Each
   * is one JSON object. Returns their number and the offset after the last.
   */
  match(text: Uint8Array, at: number): { count: number; end: number };
}

const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_ARRAY = 0x5d;

/** Maximum number of bytes before the items of a page that are examined. */
const MAX_HEAD_BYTES = 4096;

/**
 * Reads pages of a list without parsing known items at their beginning, because parsing costs more than everything
 * else.
 */
export class PageReader {
  readonly #list: List;
  readonly #items: KnownItems | null;
  /** Number of known items before the items of the last page. */
  known = 0;

  constructor(list: List, items: KnownItems | null) {
    this.#list = list;
    this.#items = items;
  }

  read(body: Uint8Array): ReadBody {
    this.known = 0;
    const shorter = this.#items === null ? null : this.#withoutKnown(body, this.#items);
    return shorter ?? readJsonBody(body);
  }

  /** Returns null if the page cannot be shortened safely. */
  #withoutKnown(body: Uint8Array, items: KnownItems): ReadBody | null {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const start = bytes.subarray(0, MAX_HEAD_BYTES).indexOf('[{') + 1;
    if (start === 0 || !this.#beginsItems(bytes.subarray(0, start))) return null;
    const { count, end } = items.match(bytes, start);
    if (count === 0) return null;
    const more = bytes[end] === COMMA && bytes[end + 1] === OPEN_OBJECT;
    if (!more && bytes[end] !== CLOSE_ARRAY) return null;
    const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(more ? end + 1 : end)]);
    const read = readJsonBody(rest);
    // A second member with the items' name would be taken for the first, which was cut out.
    if ('why' in read || read.ambiguity !== null) return null;
    this.known = count;
    return read;
  }

  /**
   * Reports whether `head` ends where the items begin: adding an item after it must change the number of items from 0
   * to 1.
   */
  #beginsItems(head: Buffer): boolean {
    const depth = namesOf(this.#list.items).length;
    const lengthOf = (item: string) => {
      const read = readJsonBody(Buffer.concat([head, Buffer.from(`${item}]${'}'.repeat(depth)}`)]));
      return 'why' in read ? null : itemsOf(this.#list, read.value)?.length;
    };
    return lengthOf('') === 0 && lengthOf('{}') === 1;
  }
}

/** Parsed JSON text, or the reason that it is invalid, as words that continue "but …". */
export type ReadBody = ExactJson | { why: string };
/** Reads a body, which is valid until it returns. */
export type ReadPage = (body: Uint8Array) => ReadBody;

/** Maximum number of values in a document. */
const MAX_VALUES = 1_000_000;
/** Upper bound of the heap that a value takes, including its member name; measured with objects of a million names. */
const VALUE_BYTES = 350;

export function readJsonBody(body: Uint8Array): ReadBody {
  // Checks depth, number of values and memory first: JSON.parse accepts 64 MiB of brackets and takes 3 GB for them.
  const { depth, values } = sizeOf(body);
  if (depth > MAX_DEPTH) return { why: `it is nested deeper than ${MAX_DEPTH} levels` };
  if (values > MAX_VALUES) return { why: `it has more than ${MAX_VALUES} values` };
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
  if (values * VALUE_BYTES + body.length > limit - used)
    return { why: `reading it takes more memory than Node.js may use (${Math.round(limit / 2 ** 20)} MiB)` };
  if (!isUtf8(body)) return { why: 'it is not JSON' };
  try {
    return parseExactJson(withoutByteOrderMark(body));
  } catch {
    return { why: 'it is not JSON' };
  }
}

/** Counts depth and values up to their limits. */
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

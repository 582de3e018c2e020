import { itemsOf } from '../../verifier/profile/answers.ts';
import type { List } from '../../verifier/profile/list-description.ts';
import { namesOf } from '../../verifier/profile/path.ts';
import { type ReadBody, readJsonBody } from './json-body.ts';

/** Items that the caller has already, and expects next in a list. */
export interface KnownItems {
  /**
   * As many of them as stand in `text` from `at` on, byte by byte, each but the first after a comma: how many, and
   * where the last ends. Each is one JSON object.
   */
  match(text: Uint8Array, at: number): { count: number; end: number };
}

const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_ARRAY = 0x5d;

/** The most bytes before the items of a page that are looked at. */
const MAX_HEAD_BYTES = 4096;

/** Reads pages of a list without those items at their beginning that are known: to parse them costs more than all else. */
export class PageReader {
  readonly #list: List;
  readonly #items: KnownItems | null;
  /** The number of known items before those of the page that was read last. */
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

  /** Null where the page cannot be shortened with certainty. */
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
    // A second member of the items' name would be taken for the first, which was cut out.
    if ('why' in read || read.ambiguity !== null) return null;
    this.known = count;
    return read;
  }

  /** Reports whether the first item follows `head`: an item there, and none there, must make all the difference. */
  #beginsItems(head: Buffer): boolean {
    const depth = namesOf(this.#list.items).length;
    const lengthOf = (item: string) => {
      const read = readJsonBody(Buffer.concat([head, Buffer.from(`${item}]${'}'.repeat(depth)}`)]));
      return 'why' in read ? null : itemsOf(this.#list, read.value)?.length;
    };
    return lengthOf('') === 0 && lengthOf('{}') === 1;
  }
}

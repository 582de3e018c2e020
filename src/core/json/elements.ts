// Over 250 lines: one automaton over bytes, whose states are read together.
import { joinBytes, utf8Bytes } from '../bytes.ts';
import { EvidenceError } from '../errors.ts';
import { type Json, MAX_DEPTH } from './canonical.ts';
import { type ExactJson, parseExactJson } from './exact.ts';

interface ElementHandlers {
  /**
   * Receives the members that precede the array, once, before its first element; null if they are not JSON so far,
   * which `finish` will report.
   */
  onHead?(head: Json): void;
  /**
   * Receives one element of the array in its original bytes, which are valid only during the call.
   * @param members number of members of all its objects, duplicates included.
   */
  onElement(bytes: Uint8Array, members: number): void;
  /**
   * Reads as many whole elements as it can from `at` on, where an element begins. The scanner delivers the remaining
   * elements one by one.
   */
  onElements?(bytes: Uint8Array, at: number): ElementsRead;
}

export interface ElementsRead {
  /** True if it read any element. */
  any: boolean;
  /** Offset after the last element and perhaps white space, or after the comma that follows. */
  end: number;
  place: 'after' | 'next';
}

export interface ElementLimits {
  /** Maximum bytes of one element; a larger element ends the reading. */
  maxElementBytes: number;
  /** Maximum bytes of everything outside of elements. */
  maxRestBytes: number;
  /**
   * Maximum number of values in one element, and outside of elements: a value may take a hundred times its bytes once
   * parsed.
   */
  maxValues: number;
}

const DEFAULT_LIMITS: ElementLimits = {
  maxElementBytes: 16 * 2 ** 20,
  maxRestBytes: 16 * 2 ** 20,
  maxValues: 250_000,
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Scanner's place in the array: before its first element, in an element, after an element, or after a comma. */
type Place = 'outside' | 'first' | 'inside' | 'after' | 'next';

/** Error about a complete document without an array at the expected path. */
export class NoElementsError extends EvidenceError {
  constructor(path: readonly string[]) {
    super(
      'unreadable',
      path.length === 0 ? 'the document is not an array' : `the document has no array "${path.join('.')}"`,
    );
  }
}

/**
 * Cuts the objects out of one array of a JSON document as its bytes arrive, in memory bounded by the largest element.
 * The bytes may come in pieces of any size. Everything around the array is kept and parsed by `finish`, with the array
 * empty.
 *
 * The scanner follows only strings and brackets; `onElement` finds out whether an element is JSON.
 */
export class ElementScanner {
  readonly #path: readonly string[];
  readonly #handlers: ElementHandlers;
  readonly #limits: ElementLimits;
  readonly #rest = new ByteBuffer();
  readonly #element = new ByteBuffer();
  #place: Place = 'outside';
  #found = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Number of enclosing objects that lead to the array; the outermost always does. */
  #onPath = 0;
  /** True if the next string is a member name of the innermost object on the path. */
  #expectName = false;
  #nameStart = 0;
  #memberName: string | null = null;
  #members = 0;
  /** Counts of brackets and commas, which bound the number of values: in this element, and outside of elements. */
  #values = 0;
  #restValues = 0;
  #offset = 0;

  /** @param path names of the members that lead to the array, outermost first; empty if the document is the array. */
  constructor(path: readonly string[], handlers: ElementHandlers, limits: Partial<ElementLimits> = {}) {
    this.#path = path;
    this.#handlers = handlers;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** @throws EvidenceError `unreadable`, or an error of a handler. */
  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#place === 'outside') at = this.#readRest(chunk, at);
      else if (this.#place === 'inside') at = this.#readElement(chunk, at);
      else at = this.#readBetween(chunk, at);
    }
    this.#offset += chunk.length;
  }

  /** Reports whether the byte at this offset of the document comes next, directly after a comma between elements. */
  awaitsElement(offset: number): boolean {
    return this.#place === 'next' && this.#offset === offset;
  }

  /** Continues after elements that the caller has read. */
  skipTo(offset: number, place: ElementsRead['place']): void {
    this.#offset = offset;
    this.#place = place;
  }

  /**
   * Ends the document and returns everything but the elements.
   * @throws EvidenceError `unreadable` if the document is cut off, is not JSON, or lacks the array.
   */
  finish(): ExactJson {
    if (this.#place !== 'outside' || this.#depth > 0 || this.#inString)
      throw new EvidenceError('unreadable', `the document is cut off after ${this.#offset} bytes`);
    const rest = parseExactJson(this.#rest.bytes());
    if (!this.#found) throw new NoElementsError(this.#path);
    return rest;
  }

  // Over 40 lines: one state machine; a call per byte would cost what the scanner saves.
  #readRest(chunk: Uint8Array, start: number): number {
    let at = start;
    while (at < chunk.length) {
      const byte = chunk[at++] as number;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) {
          this.#inString = false;
          if (this.#expectName) {
            this.#keepRest(chunk, start, at);
            start = at;
            this.#memberName = this.#readName();
            this.#expectName = false;
          }
        }
        continue;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#expectName) this.#nameStart = this.#rest.length + (at - 1 - start);
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        const leads = this.#leadsToArray(byte);
        this.#restValues++;
        this.#enter(this.#offset + at - 1);
        if (leads && byte === OPEN_OBJECT) this.#onPath++;
        this.#expectName = leads && byte === OPEN_OBJECT;
        if (leads && byte === OPEN_ARRAY) {
          this.#keepRest(chunk, start, at);
          this.#found = true;
          this.#place = 'first';
          return at;
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (this.#onPath === this.#depth) this.#onPath--;
        this.#depth--;
      } else if (byte === COMMA) {
        this.#restValues++;
        if (this.#depth === this.#onPath && this.#depth > 0) {
          this.#expectName = true;
          this.#memberName = null;
        }
      }
    }
    this.#keepRest(chunk, start, at);
    return at;
  }

  #readBetween(chunk: Uint8Array, start: number): number {
    let at = start;
    while (at < chunk.length) {
      const byte = chunk[at] as number;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        at++;
      } else if (byte === OPEN_OBJECT && this.#place !== 'after') {
        if (this.#place === 'first') this.#announceHead();
        const read = this.#handlers.onElements?.(chunk, at);
        if (read?.any === true) {
          this.#place = read.place;
          at = read.end;
          continue;
        }
        this.#place = 'inside';
        this.#members = 0;
        this.#values = 0;
        return at;
      } else if (byte === COMMA && this.#place === 'after') {
        this.#place = 'next';
        at++;
      } else if (byte === CLOSE_ARRAY && this.#place !== 'next') {
        this.#depth--;
        this.#place = 'outside';
        this.#keepRest(chunk, at, at + 1);
        return at + 1;
      } else {
        const wanted = this.#place === 'after' ? 'a comma or the end of the array' : 'an object';
        throw new EvidenceError('unreadable', `byte ${this.#offset + at} of the document is not ${wanted}`);
      }
    }
    return at;
  }

  #readElement(chunk: Uint8Array, start: number): number {
    let at = start;
    while (at < chunk.length) {
      const byte = chunk[at++] as number;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === COLON) this.#members++;
      else if (byte === COMMA) this.#values++;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.#values++;
        this.#enter(this.#offset + at - 1);
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.#depth--;
        if (this.#depth === this.#path.length + 1) {
          this.#deliver(chunk.subarray(start, at));
          return at;
        }
      }
    }
    this.#element.append(chunk.subarray(start, at));
    this.#checkElementSize(this.#element.length);
    return at;
  }

  #deliver(last: Uint8Array): void {
    this.#checkElementSize(this.#element.length + last.length);
    this.#place = 'after';
    if (this.#element.length === 0) {
      this.#handlers.onElement(last, this.#members);
      return;
    }
    this.#element.append(last);
    this.#handlers.onElement(this.#element.bytes(), this.#members);
    this.#element.clear();
  }

  /** Reports whether the bracket opens the array, or an object on the path to it. */
  #leadsToArray(bracket: number): boolean {
    const depth = this.#depth;
    if (this.#found || this.#onPath !== depth || (depth > 0 && this.#memberName !== this.#path[depth - 1]))
      return false;
    return bracket === OPEN_ARRAY ? depth === this.#path.length : depth < this.#path.length;
  }

  #enter(offset: number): void {
    this.#depth++;
    if (this.#depth > MAX_DEPTH)
      throw new EvidenceError('unreadable', `byte ${offset} of the document is nested deeper than ${MAX_DEPTH} levels`);
  }

  #checkElementSize(bytes: number): void {
    const element = `an element of "${this.#path.join('.')}"`;
    const { maxElementBytes, maxValues } = this.#limits;
    if (bytes > maxElementBytes)
      throw new EvidenceError('unreadable', `${element} has more than ${maxElementBytes} bytes`);
    if (this.#values > maxValues)
      throw new EvidenceError('unreadable', `${element} holds more than ${maxValues} values`);
  }

  #keepRest(chunk: Uint8Array, start: number, end: number): void {
    this.#rest.append(chunk.subarray(start, end));
    const rest = `what surrounds "${this.#path.join('.')}"`;
    const { maxRestBytes, maxValues } = this.#limits;
    if (this.#rest.length > maxRestBytes)
      throw new EvidenceError('unreadable', `${rest} has more than ${maxRestBytes} bytes`);
    if (this.#restValues > maxValues)
      throw new EvidenceError('unreadable', `${rest} holds more than ${maxValues} values`);
  }

  #readName(): string | null {
    try {
      return String(parseExactJson(this.#rest.bytes().subarray(this.#nameStart)).value);
    } catch {
      return null;
    }
  }

  #announceHead(): void {
    if (this.#handlers.onHead === undefined) return;
    const closed = joinBytes([this.#rest.bytes(), utf8Bytes(`]${'}'.repeat(this.#path.length)}`)]);
    let head: Json = null;
    try {
      head = parseExactJson(closed).value;
    } catch {
      // `finish` reports the error.
    }
    this.#handlers.onHead(head);
  }
}

/** Growing buffer of bytes whose storage is reused. */
class ByteBuffer {
  #storage = new Uint8Array(4096);
  length = 0;

  append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.#storage.length) {
      const larger = new Uint8Array(Math.max(needed, this.#storage.length * 2));
      larger.set(this.#storage.subarray(0, this.length));
      this.#storage = larger;
    }
    this.#storage.set(bytes, this.length);
    this.length = needed;
  }

  bytes(): Uint8Array {
    return this.#storage.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }
}

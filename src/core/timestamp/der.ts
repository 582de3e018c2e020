import { EvidenceError } from '../errors.ts';

/**
 * Element of DER (X.690 section 10), as far as CMS and X.509 use it. Our own code, because exact bytes are checked:
 * which of them were signed, that nothing follows them, and that each length has one encoding. asn1js and pkijs read
 * BER and so accept what must be refused. The platform's authority writes with them, and a shared bug must not hide.
 */
export interface Element {
  /** Identifier octet: class, constructed bit and number. */
  readonly tag: number;
  readonly content: Uint8Array;
  /** Identifier, length and content, as in the input. */
  readonly encoded: Uint8Array;
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Maximum depth. Tokens, including certificates, nest about 12 levels deep. */
const MAX_DEPTH = 32;
const CONSTRUCTED = 0x20;
const LONG_FORM = 0x80;

/** Returns the identifier octet of a constructed `[number]`. */
export function context(number: number): number {
  return 0xa0 | number;
}

export function malformed(message: string): EvidenceError {
  return new EvidenceError('unreadable', message);
}

/**
 * Reads `bytes` as one element, checked to its leaves.
 *
 * @throws EvidenceError `unreadable` unless the bytes are DER: for trailing bytes, lengths that are indefinite, not
 * minimal or beyond the enclosing element, constructed strings, and nesting beyond 32 levels.
 */
export function readDer(bytes: Uint8Array): Element {
  const root = elementAt(bytes, 0);
  const rest = bytes.length - root.encoded.length;
  if (rest > 0) throw malformed(`${rest} bytes follow after its end`);
  checkInside(root, 1);
  return root;
}

function checkInside(element: Element, depth: number): void {
  if ((element.tag & CONSTRUCTED) === 0) return;
  if (depth === MAX_DEPTH) throw malformed(`it is nested deeper than ${MAX_DEPTH} levels`);
  if (element.tag < LONG_FORM && element.tag !== TAG.sequence && element.tag !== TAG.set)
    throw malformed(`it has a constructed value of type ${hex(element.tag)}, which DER does not know`);
  for (const child of children(element)) checkInside(child, depth + 1);
}

/** Returns the elements inside a constructed element, in order. */
export function children(parent: Element): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < parent.content.length; ) {
    const child = elementAt(parent.content, at);
    found.push(child);
    at += child.encoded.length;
  }
  return found;
}

function elementAt(bytes: Uint8Array, start: number): Element {
  const tag = octet(bytes, start);
  if ((tag & 0x1f) === 0x1f) throw malformed('it has a tag number above 30, which no part of a token has');
  const { length, size } = lengthAt(bytes, start + 1);
  const from = start + 1 + size;
  if (length > bytes.length - from)
    throw malformed(`a value of ${length} bytes is announced where ${bytes.length - from} are left`);
  return { tag, content: bytes.subarray(from, from + length), encoded: bytes.subarray(start, from + length) };
}

/** Reads a definite length in the minimal number of octets (X.690 section 10.1). */
function lengthAt(bytes: Uint8Array, start: number): { length: number; size: number } {
  const first = octet(bytes, start);
  if (first < LONG_FORM) return { length: first, size: 1 };
  if (first === LONG_FORM) throw malformed('it has a value of indefinite length, which DER does not know');
  const count = first - LONG_FORM;
  let length = 0;
  for (let index = 1; index <= count; index++) length = length * 256 + octet(bytes, start + index);
  if (length < LONG_FORM || length < 256 ** (count - 1)) throw malformed('it has a length in more octets than needed');
  return { length, size: 1 + count };
}

function octet(bytes: Uint8Array, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw malformed('it ends in the middle of a value');
  return value;
}

/** Takes the fields of a SEQUENCE one after the other; `end()` throws if there are more. */
export class DerFields {
  readonly #what: string;
  readonly #elements: Element[];
  #next = 0;

  /** @param what name of the SEQUENCE in errors. */
  constructor(parent: Element, what: string) {
    this.#what = what;
    this.#elements = children(parent);
  }

  /** Returns the next field, which must exist and have this tag. */
  take(tag: number, name: string): Element {
    const field = this.optional(tag);
    if (field !== undefined) return field;
    const there = this.#elements[this.#next];
    const found = there === undefined ? 'nothing' : `type ${hex(there.tag)}`;
    throw malformed(`${this.#what} has ${found} where its ${name} (type ${hex(tag)}) belongs`);
  }

  /** Returns the next field if it has this tag. */
  optional(tag: number): Element | undefined {
    const field = this.#elements[this.#next];
    if (field?.tag !== tag) return undefined;
    this.#next++;
    return field;
  }

  /** Returns the next field, whatever its tag. */
  any(): Element | undefined {
    return this.#elements[this.#next++];
  }

  end(): void {
    const more = this.#elements[this.#next];
    if (more !== undefined) throw malformed(`${this.#what} has a field too many, of type ${hex(more.tag)}`);
  }
}

export function expectTag(element: Element, tag: number, what: string): Element {
  if (element.tag !== tag) throw malformed(`${what} is of type ${hex(element.tag)}, not ${hex(tag)}`);
  return element;
}

/** Returns the single element inside an EXPLICIT tag or a SET of one. */
export function only(parent: Element, tag: number, what: string): Element {
  const [first, ...more] = children(parent);
  if (first === undefined || more.length > 0)
    throw malformed(`${what} has ${more.length + (first ? 1 : 0)} values, not one`);
  return expectTag(first, tag, what);
}

function hex(tag: number): string {
  return `0x${tag.toString(16).padStart(2, '0')}`;
}

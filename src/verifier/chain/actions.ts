import { utf8Bytes, utf8Text } from '../../core/bytes.ts';
import { type EntryBatch, isNoted } from '../model/batch.ts';
import type { Contract } from '../reading/contract.ts';
import { cutWord } from '../reading/entry-words.ts';

/** Number of entries per action; null if not requested or not known for every entry. */
export type CountedActions = ReadonlyMap<string, number> | null;

/** Maximum number of distinct actions, and of their bytes. Beyond either, actions are not counted. */
const MAX_ACTIONS = 100_000;
const MAX_BYTES = 16 * 2 ** 20;

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN] = utf8Bytes('"\\,:{') as unknown as [
  number,
  number,
  number,
  number,
  number,
];
/** First bytes of values that hold other values. */
const OPENING = new Set(utf8Bytes('{['));

interface Counted {
  /** Action as sent, without quotes. */
  bytes: Uint8Array;
  count: number;
}

/** Counts entries by action. Finds most actions in an entry's bytes, without parsing the whole entry. */
export class ActionCount {
  readonly #contract: Contract;
  /** Bytes that precede the text of an action: the quoted member name, the colon and the opening quote. */
  readonly #member: Uint8Array;
  /** Actions found in bytes, keyed by a hash of those bytes. */
  readonly #counted = new Map<number, Counted[]>();
  readonly #texts = new Map<string, number>();
  #actions = 0;
  #bytes = 0;
  #isCountable: boolean;

  constructor(contract: Contract) {
    this.#contract = contract;
    this.#isCountable = contract.countedAction !== null;
    this.#member = utf8Bytes(`${JSON.stringify(contract.countedAction ?? '')}:"`);
  }

  add(batch: EntryBatch, from: number, to: number): void {
    for (let index = from; index < to && this.#isCountable; index++) {
      if (isNoted(batch, index)) {
        this.#addText(batch.entry(index).words().action);
        continue;
      }
      const bytes = batch.sent(index);
      const start = this.#find(bytes);
      const end = start === -1 ? -1 : bytes.indexOf(QUOTE, start);
      const escaped = bytes.indexOf(BACKSLASH, start);
      if (end === -1 || (escaped !== -1 && escaped < end)) this.#addText(this.#contract.describeEntry(bytes).action);
      else this.#addBytes(bytes, start, end);
    }
  }

  finish(): CountedActions {
    for (const { bytes, count } of [...this.#counted.values()].flat())
      if (this.#isCountable) this.#addText(cutWord(utf8Text(bytes)), count);
    return this.#isCountable ? this.#texts : null;
  }

  /**
   * Returns the offset of the action's text; -1 if only a parser of the whole entry can find it.
   * @param bytes an entry that can be read in one way only.
   */
  #find(bytes: Uint8Array): number {
    for (let at = 0; bytes[at] === (at === 0 ? OPEN : COMMA); ) {
      at++;
      if (bytes[at] !== QUOTE) return -1;
      if (this.#isMember(bytes, at)) return at + this.#member.length;
      at = endOfText(bytes, at);
      if (at === -1 || bytes[at] !== COLON) return -1;
      at++;
      if (OPENING.has(bytes[at] ?? 0)) return -1;
      at = bytes[at] === QUOTE ? endOfText(bytes, at) : bytes.indexOf(COMMA, at);
      if (at === -1) return -1;
    }
    return -1;
  }

  #isMember(bytes: Uint8Array, at: number): boolean {
    const member = this.#member;
    for (let index = 0; index < member.length; index++) if (bytes[at + index] !== member[index]) return false;
    return true;
  }

  #addBytes(bytes: Uint8Array, start: number, end: number): void {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
    const alike = this.#counted.get(hash);
    const known = alike?.find((one) => isSame(one.bytes, bytes, start, end));
    if (known !== undefined) known.count++;
    else if (this.#isWithin(end - start)) {
      const counted = { bytes: bytes.slice(start, end), count: 1 };
      if (alike === undefined) this.#counted.set(hash, [counted]);
      else alike.push(counted);
    }
  }

  #addText(text: string | null, count = 1): void {
    const known = this.#texts.get(text ?? '');
    if (text === null || text === '') this.#isCountable = false;
    else if (known !== undefined || this.#isWithin(text.length)) this.#texts.set(text, (known ?? 0) + count);
  }

  #isWithin(bytes: number): boolean {
    this.#actions++;
    this.#bytes += bytes;
    // Each action may be counted twice: as bytes and as text.
    if (this.#actions > 2 * MAX_ACTIONS || this.#bytes > 2 * MAX_BYTES) this.#isCountable = false;
    return this.#isCountable;
  }
}

/** Returns the offset after a text's closing quote; -1 if a backslash precedes the first quote or there is none. */
function endOfText(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(QUOTE, start + 1);
  return end === -1 || bytes[end - 1] === BACKSLASH ? -1 : end + 1;
}

function isSame(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let at = start; at < end; at++) if (known[at - start] !== bytes[at]) return false;
  return true;
}

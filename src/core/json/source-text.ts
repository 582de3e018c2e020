import { EvidenceError } from '../errors.ts';
import { MAX_DEPTH } from './canonical.ts';
import { endOfString } from './tokens.ts';

/**
 * JSON as written: every value with its place in the text, numbers with their own digits. For digests over text, which
 * would change if a number became a double.
 */
export type Written = { start: number; end: number } & (
  | { kind: 'scalar' }
  | { kind: 'string'; value: string }
  | { kind: 'array'; items: Written[] }
  | { kind: 'object'; members: WrittenMember[] }
);

interface WrittenMember {
  name: string;
  /** Offset of the name, including its quotes. */
  start: number;
  value: Written;
}

/**
 * Reads the structure of a text.
 * @param json text that `JSON.parse` has accepted.
 * @throws EvidenceError `unreadable` if it is nested deeper than `MAX_DEPTH`.
 */
export function readWritten(json: string): Written {
  return new Reader(json).value(0);
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /[-+.0-9A-Za-z]+/y;

class Reader {
  readonly #json: string;
  #at = 0;

  constructor(json: string) {
    this.#json = json;
  }

  value(depth: number): Written {
    this.#skip(SPACE);
    const start = this.#at;
    const sign = this.#json[start];
    if (sign === '"') return { kind: 'string', value: this.#string(), start, end: this.#at };
    if (sign !== '{' && sign !== '[') {
      this.#skip(SCALAR);
      return { kind: 'scalar', start, end: this.#at };
    }
    if (depth === MAX_DEPTH) throw new EvidenceError('unreadable', `JSON is nested deeper than ${MAX_DEPTH} levels`);
    if (sign === '[')
      return { kind: 'array', items: this.#list(']', () => this.value(depth + 1)), start, end: this.#at };
    return { kind: 'object', members: this.#list('}', () => this.#member(depth + 1)), start, end: this.#at };
  }

  #member(depth: number): WrittenMember {
    const start = this.#at;
    const name = this.#string();
    this.#skip(SPACE);
    this.#at++; // the colon
    return { name, start, value: this.value(depth) };
  }

  #list<T>(end: string, read: () => T): T[] {
    const items: T[] = [];
    this.#at++;
    for (;;) {
      this.#skip(SPACE);
      const sign = this.#json[this.#at];
      if (sign === ',') this.#at++;
      else if (sign === end) {
        this.#at++;
        return items;
      } else {
        items.push(read());
        continue;
      }
      this.#skip(SPACE);
      items.push(read());
    }
  }

  #string(): string {
    const start = this.#at;
    this.#at = endOfString(this.#json, start);
    return JSON.parse(this.#json.slice(start, this.#at));
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    if (pattern.test(this.#json)) this.#at = pattern.lastIndex;
  }
}

/** Returns an object's text without some of its members, each removed with one comma; the rest stays unchanged. */
export function writtenWithout(json: string, object: Written, without: ReadonlySet<string>): string {
  if (object.kind !== 'object') return json.slice(object.start, object.end);
  const { members } = object;
  const [first, last] = [members[0], members.at(-1)];
  if (first === undefined || last === undefined) return json.slice(object.start, object.end);
  const kept = members.flatMap((member, index) => {
    if (without.has(member.name)) return [];
    const before = members[index - 1];
    return [{ gap: before === undefined ? ',' : json.slice(before.value.end, member.start), member }];
  });
  const body = kept.map(
    ({ gap, member }, index) => (index === 0 ? '' : gap) + json.slice(member.start, member.value.end),
  );
  return json.slice(object.start, first.start) + body.join('') + json.slice(last.value.end, object.end);
}

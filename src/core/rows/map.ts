import { MEMBERS } from '../json/indented.ts';
import { type Rows, RowsBuilder } from './rows.ts';

/** Interval of the keys held in memory: one in `STEP`. */
const STEP = 16;

/** Map that may be too long for memory, sorted by the UTF-16 code units of its keys. */
export class RowMap<V> implements Iterable<[key: string, value: V]> {
  readonly #rows: Rows<[string, V]>;
  /** Every `STEP`th key. */
  readonly #keys: readonly string[];

  constructor(rows: Rows<[string, V]>, keys: readonly string[]) {
    this.#rows = rows;
    this.#keys = keys;
  }

  /** @param pairs in any order; of pairs with the same key, the first counts. */
  static of<V>(pairs: Iterable<readonly [string, V]>): RowMap<V> {
    const rows = new RowsBuilder<readonly [string, V]>();
    for (const pair of pairs) rows.push(pair);
    const builder = new RowMapBuilder<V>();
    for (const [key, value] of rows.finishSorted(([key]) => key)) builder.add(key, value);
    return builder.finish();
  }

  get size(): number {
    return this.#rows.length;
  }

  has(key: string): boolean {
    return this.#find(key) !== null;
  }

  get(key: string): V | undefined {
    return this.#find(key)?.[1];
  }

  [Symbol.iterator](): Iterator<[string, V]> {
    return this.#rows[Symbol.iterator]();
  }

  /** Yields the members for `indentedJson`. */
  [MEMBERS](): Iterable<[string, V]> {
    return this;
  }

  /** Returns the members for `JSON.stringify`, which would otherwise write an empty object. */
  toJSON(): Record<string, V> {
    return Object.fromEntries(this);
  }

  #find(key: string): [string, V] | null {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] as string) <= key) low = middle + 1;
      else high = middle;
    }
    const end = Math.min(low * STEP, this.size);
    for (let at = Math.max(0, low - 1) * STEP; at < end; at++) {
      const pair = this.#rows.at(at) as [string, V];
      if (pair[0] === key) return pair;
      if (pair[0] > key) return null;
    }
    return null;
  }
}

/** Collects a map in the order of its keys. */
export class RowMapBuilder<V> {
  readonly #rows = new RowsBuilder<[string, V]>();
  readonly #keys: string[] = [];
  #last: string | null = null;
  #size = 0;

  get length(): number {
    return this.#size;
  }

  /** @returns false, without adding the pair, unless the key sorts after all others. */
  add(key: string, value: V): boolean {
    if (this.#last !== null && key <= this.#last) return false;
    if (this.#size % STEP === 0) this.#keys.push(key);
    this.#rows.push([key, value]);
    this.#last = key;
    this.#size++;
    return true;
  }

  finish(): RowMap<V> {
    return new RowMap(this.#rows.finish(), this.#keys);
  }
}

/** Yields all keys of two maps, in order, with the value in each map; undefined if a map lacks the key. */
export function* joinMaps<A, B>(
  one: Iterable<[string, A]>,
  other: Iterable<[string, B]>,
): Generator<[key: string, one: A | undefined, other: B | undefined]> {
  const others = other[Symbol.iterator]();
  let next = others.next();
  for (const [key, value] of one) {
    for (; next.done !== true && next.value[0] < key; next = others.next())
      yield [next.value[0], undefined, next.value[1]];
    const isShared = next.done !== true && next.value[0] === key;
    yield [key, value, isShared ? (next.value[1] as B) : undefined];
    if (isShared) next = others.next();
  }
  for (; next.done !== true; next = others.next()) yield [next.value[0], undefined, next.value[1]];
}

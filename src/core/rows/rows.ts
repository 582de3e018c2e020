import { RowFile } from './file.ts';

/** List that may be too long for memory: the methods of an array that a file can provide row by row. */
export interface Rows<T> extends Iterable<T> {
  readonly length: number;
  at(index: number): T | undefined;
  map<U>(toValue: (row: T) => U): U[];
  flatMap<U>(toValues: (row: T) => U | readonly U[]): U[];
  /** Returns rows that read these rows again on each access. */
  filter(keep: (row: T) => boolean): Rows<T>;
  reduce<U>(step: (sum: U, row: T) => U, first: U): U;
  some(test: (row: T) => boolean): boolean;
  every(test: (row: T) => boolean): boolean;
  find(test: (row: T) => boolean): T | undefined;
}

/** Maximum bytes of JSON held in memory. */
const HELD_BYTES = 2 ** 20;

/** Minimum size of a sorted run, and maximum number of runs, which are merged. */
const LEAST_RUN = 1000;
const MOST_RUNS = 64;

/** Collects rows, in memory while they are few, then in an unnamed file that is deleted with the rows. */
export class RowsBuilder<T> {
  readonly #heldBytes: number;
  #held: T[] = [];
  #bytes = 0;
  #file: RowFile | null = null;

  constructor(heldBytes = HELD_BYTES) {
    this.#heldBytes = heldBytes;
  }

  get length(): number {
    return this.#file?.length ?? this.#held.length;
  }

  /** @param row JSON that is unchanged after writing and reading. */
  push(row: T): void {
    const text = JSON.stringify(row);
    this.#bytes += text.length;
    if (this.#file === null && this.#bytes <= this.#heldBytes) {
      this.#held.push(row);
      return;
    }
    this.#file ??= this.#spill();
    this.#file.append(text);
  }

  /** Returns the rows in the order in which they were added. */
  finish(): Rows<T> {
    return this.#file === null ? this.#held : new FileRows(this.#file);
  }

  /** Returns the rows sorted by the UTF-16 code units of a text of each. Rows with equal texts keep their order. */
  finishSorted(keyOf: (row: T) => string): Rows<T> {
    const byKey = (one: T, other: T) => compareTexts(keyOf(one), keyOf(other));
    if (this.#file === null) return this.#held.toSorted(byKey);
    const runs = new RowFile();
    const ends: number[] = [];
    const size = Math.max(LEAST_RUN, Math.ceil(this.#file.length / MOST_RUNS));
    for (const batch of inBatches(new FileRows<T>(this.#file), size)) {
      for (const row of batch.sort(byKey)) runs.append(JSON.stringify(row));
      ends.push(runs.length);
    }
    const sorted = new RowFile();
    const texts = ends.map((end, index) => runs.texts(ends[index - 1] ?? 0, end));
    for (const text of merged(texts, (row) => keyOf(JSON.parse(row) as T))) sorted.append(text);
    return new FileRows(sorted);
  }

  #spill(): RowFile {
    const file = new RowFile();
    for (const row of this.#held) file.append(JSON.stringify(row));
    this.#held = [];
    return file;
  }
}

interface Head {
  source: Iterator<string>;
  text: string;
  key: string;
}

/** Merges sorted texts by a key of each; of equal keys, the earlier source comes first. */
function* merged(sources: readonly Iterator<string>[], keyOf: (text: string) => string): Generator<string> {
  const next = (source: Iterator<string>): Head[] => {
    const { done, value } = source.next();
    return done === true ? [] : [{ source, text: value, key: keyOf(value) }];
  };
  const heads = sources.flatMap(next);
  for (let [first] = heads; first !== undefined; [first] = heads) {
    for (const head of heads) if (compareTexts(head.key, first.key) < 0) first = head;
    yield first.text;
    heads.splice(heads.indexOf(first), 1, ...next(first.source));
  }
}

/** Returns a function that finds the last row with a text. */
export function findBy<T>(rows: Rows<T>, textOf: (row: T) => string): (text: string) => T | undefined {
  const places = new Map<string, number>();
  let place = 0;
  for (const row of rows) places.set(textOf(row), place++);
  return (text) => rows.at(places.get(text) ?? rows.length);
}

/** Returns the first `count` rows. */
export function firstOf<T>(rows: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const row of rows) {
    if (first.length === count) break;
    first.push(row);
  }
  return first;
}

/** Yields the rows in batches of at most `size`. */
export function* inBatches<T>(rows: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const row of rows) {
    if (batch.push(row) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Compares texts by their UTF-16 code units. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// Over ten members: the members of an array that are used.
abstract class ReadRows<T> implements Rows<T> {
  abstract readonly length: number;
  abstract at(index: number): T | undefined;
  abstract [Symbol.iterator](): Iterator<T>;

  map<U>(toValue: (row: T) => U): U[] {
    return Array.from(this, toValue);
  }

  flatMap<U>(toValues: (row: T) => U | readonly U[]): U[] {
    const values: U[] = [];
    for (const row of this) {
      const some = toValues(row);
      if (Array.isArray(some)) for (const value of some) values.push(value);
      else values.push(some as U);
    }
    return values;
  }

  filter(keep: (row: T) => boolean): Rows<T> {
    return new KeptRows(this, keep);
  }

  reduce<U>(step: (sum: U, row: T) => U, first: U): U {
    let sum = first;
    for (const row of this) sum = step(sum, row);
    return sum;
  }

  some(test: (row: T) => boolean): boolean {
    return this.find(test) !== undefined;
  }

  every(test: (row: T) => boolean): boolean {
    return !this.some((row) => !test(row));
  }

  /** Returns the rows for `JSON.stringify`, which would otherwise write an empty object. */
  toJSON(): T[] {
    return [...this];
  }

  find(test: (row: T) => boolean): T | undefined {
    for (const row of this) if (test(row)) return row;
    return undefined;
  }
}

/** Returns the index that `Array.prototype.at` refers to; null if it is out of range. */
function placeOf(index: number, length: number): number | null {
  const place = Math.trunc(index) + (index < 0 ? length : 0);
  return place >= 0 && place < length ? place : null;
}

/** Rows of a file. Each access parses a row again, so changes to it are lost. */
class FileRows<T> extends ReadRows<T> {
  readonly #file: RowFile;

  constructor(file: RowFile) {
    super();
    this.#file = file;
  }

  get length(): number {
    return this.#file.length;
  }

  at(index: number): T | undefined {
    const place = placeOf(index, this.length);
    return place === null ? undefined : (JSON.parse(this.#file.read(place)) as T);
  }

  *[Symbol.iterator](): Generator<T> {
    for (const text of this.#file.texts()) yield JSON.parse(text) as T;
  }
}

class KeptRows<T> extends ReadRows<T> {
  readonly #rows: Iterable<T>;
  readonly #keep: (row: T) => boolean;
  #length: number | null = null;

  constructor(rows: Iterable<T>, keep: (row: T) => boolean) {
    super();
    this.#rows = rows;
    this.#keep = keep;
  }

  get length(): number {
    this.#length ??= this.reduce((count) => count + 1, 0);
    return this.#length;
  }

  at(index: number): T | undefined {
    const place = placeOf(index, this.length);
    let before = 0;
    return place === null ? undefined : this.find(() => before++ === place);
  }

  *[Symbol.iterator](): Generator<T> {
    for (const row of this.#rows) if (this.#keep(row)) yield row;
  }
}

import { isEvidenceError } from '../../../core/errors.ts';
import { MAX_DEPTH } from '../../../core/json/canonical.ts';
import type { EntryBatch } from '../../model/batch.ts';
import type { SealKeys } from '../../model/entry.ts';
import type { RecipeProgram } from '../../recipe/recipe-program.ts';
import type { Decoded, EntryDecoder, Place } from '../decoder.ts';
import { type ReadWhole, toBatch, type WasmColumns } from './batch.ts';
import { giveBack, instantiate, type KernelExports } from './instance.ts';
import { PLACES, REPORT, SIZES, STOPS, valuesOf } from './layout.ts';
import { KernelSettings } from './settings.ts';
import { ROW_WORDS, UnhashedRows } from './unhashed.ts';

/** Facts about a stream that the decoder needs. Plain data, so that they can be posted to another thread. */
export interface WasmOptions {
  program: RecipeProgram;
  streamId: string;
  keys: SealKeys;
  /** Number of objects and arrays around an entry, including the array of entries. */
  depth: number;
}

/**
 * Reason why decoding stopped. `needs-more`: the bytes end here, perhaps inside an entry. `unsure`: the reference
 * decoder must read the next entry. `closed`: the closing bracket of the array follows.
 */
export type Stop = keyof typeof STOPS;

/** Entries decoded in `input`. The next run overwrites the columns. */
export interface WasmRun {
  columns: WasmColumns | null;
  /** Offset in `input`. */
  end: number;
  place: Place;
  stop: Stop;
}

const PLACE = valuesOf(PLACES);
const WORD = valuesOf(REPORT);
const REPORT_WORDS = Object.keys(WORD).length;

const DIGEST_BYTES = { 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 };

const FIRST_BLOCK_BYTES = 64 * 1024;
const LEAST_BLOCK_BYTES = 4 * 1024;

/**
 * Fast decoder, a module in C. Accepts entries that are plain and whose canonical form is certain, and stops at the
 * first entry that is not, or of which it is unsure. The reference decoder reads that entry, and alone says what is
 * unusual about it.
 */
export class WasmDecoder implements EntryDecoder {
  /** Memory that `run` reads. */
  readonly input: Uint8Array;
  readonly #kernel: KernelExports;
  readonly #program: RecipeProgram;
  readonly #settings: KernelSettings;
  readonly #unhashed: UnhashedRows;
  readonly #readWhole: ReadWhole;
  readonly #digestBytes: number;
  /** 0 if seals are not computed. */
  readonly #sealBytes: number;
  #blockBytes = FIRST_BLOCK_BYTES;
  #closed = false;

  private constructor({ program, streamId, keys, depth }: WasmOptions, readWhole: ReadWhole) {
    const kernel = instantiate();
    this.#kernel = kernel;
    this.#program = program;
    this.#readWhole = readWhole;
    this.input = this.#bytes(kernel.input.value, SIZES.INPUT_BYTES);
    this.#digestBytes = DIGEST_BYTES[program.digest.algorithm];
    this.#sealBytes = program.seal === null || keys.size === 0 ? 0 : DIGEST_BYTES[program.seal.algorithm];
    const secrets = new Map([...keys].map(([id, key]) => [id, key.export()] as const));
    try {
      kernel.begin(program.firstSequence, Math.max(0, MAX_DEPTH - depth));
      this.#settings = new KernelSettings(kernel, program, streamId);
      this.#settings.setKeys(secrets);
      this.#unhashed = new UnhashedRows(program, this.#settings);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    } finally {
      for (const secret of secrets.values()) secret.fill(0);
    }
  }

  /**
   * Returns null for a stream that the module cannot hold: names that are too many or too long, or missing keys.
   * @param readWhole reads an accepted entry in full, for callers that show it.
   */
  static open(options: WasmOptions, readWhole: ReadWhole): WasmDecoder | null {
    try {
      return new WasmDecoder(options, readWhole);
    } catch (error) {
      if (isEvidenceError(error)) return null;
      throw error;
    }
  }

  decode(bytes: Uint8Array, at: number, place: Place): Decoded {
    const block = bytes.subarray(at, at + Math.min(this.#blockBytes, this.input.length));
    this.input.set(block);
    const { columns, stop, ...run } = this.run(0, block.length, block.length, place);
    // Adapts the size of the copy to the bytes that were used this time.
    const next = stop === 'needs-more' ? this.#blockBytes * 2 : this.#blockBytes / 2;
    this.#blockBytes = Math.min(Math.max(next, LEAST_BLOCK_BYTES), this.input.length);
    return { batch: columns === null ? null : this.toBatch(columns), end: at + run.end, place: run.place };
  }

  toBatch(columns: WasmColumns): EntryBatch {
    return toBatch(columns, this.#program, this.#readWhole);
  }

  /**
   * Reads the bytes of `input` from `start` to `end`; overwrites a few after `end`. @param limit offset before which
   * entries begin.
   */
  run(start: number, end: number, limit: number, place: Place): WasmRun {
    if (this.#closed) throw new TypeError('the decoder is closed');
    if (start < 0 || start > end || end > this.input.length) throw new RangeError('the block is not within the input');
    const kernel = this.#kernel;
    kernel.run(start, end, limit, PLACE[place]);
    const report = this.#words(kernel.report.value, REPORT_WORDS);
    const word = (name: keyof typeof WORD) => report[WORD[name]] ?? 0;
    const stop = nameAt(STOPS, word('stop'));
    const count = word('count');
    return {
      columns: count === 0 ? null : this.#columns(count, word('unhashed')),
      end: word('offset'),
      place: nameAt(PLACES, word('place')),
      // An entry that fills the whole input and is still incomplete never completes.
      stop: stop === 'needs-more' && word('offset') === 0 && end === this.input.length ? 'unsure' : stop,
    };
  }

  /** Forgets the keys. The decoder must not be used afterward, because another one reuses its memory. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    giveBack(this.#kernel);
  }

  #columns(count: number, unhashed: number): WasmColumns {
    const kernel = this.#kernel;
    const rows = this.#words(kernel.unhashed.value, unhashed * ROW_WORDS);
    const [digestBytes, sealBytes] = [this.#digestBytes, this.#sealBytes];
    const hasTimes = this.#program.roles.timestamp !== null;
    const times = new Float64Array(this.#memory, kernel.times.value, count);
    return {
      count,
      bytes: (from, to) => this.input.subarray(from, to),
      starts: this.#words(kernel.starts.value, count),
      ends: this.#words(kernel.ends.value, count),
      sequences: new Float64Array(this.#memory, kernel.sequences.value, count),
      times: hasTimes ? times : times.fill(Number.NaN),
      timestamps: this.#words(kernel.timestamps.value, count),
      timestampLengths: this.#words(kernel.timestamp_lengths.value, count),
      flags: this.#bytes(kernel.flags.value, count),
      digestBytes,
      previous: this.#bytes(kernel.previous.value, count * digestBytes),
      stated: this.#bytes(kernel.stated.value, count * digestBytes),
      computed: this.#bytes(kernel.computed.value, count * digestBytes),
      sealBytes,
      statedSeals: this.#bytes(kernel.stated_seals.value, count * sealBytes),
      computedSeals: this.#bytes(kernel.computed_seals.value, count * sealBytes),
      unhashed: this.#unhashed.read(rows, count, this.input),
      keyIds: this.#settings.usedKeyIds,
    };
  }

  get #memory(): ArrayBuffer {
    return this.#kernel.memory.buffer;
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory, at, length);
  }

  #words(at: number, length: number): Uint32Array {
    return new Uint32Array(this.#memory, at, length);
  }
}

function nameAt<T extends object>(table: T, value: number): keyof T {
  const name = Object.keys(table)[value];
  if (name === undefined) throw new TypeError('the module says what layout.ts does not know');
  return name as keyof T;
}

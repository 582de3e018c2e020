import { isEvidenceError } from '../../../src/core/errors.ts';
import { ReferenceDecoder } from '../../../src/verifier/decode/reference/decoder.ts';
import { type Stop, WasmDecoder } from '../../../src/verifier/decode/wasm/decoder.ts';
import { giveBack, instantiate, type KernelExports } from '../../../src/verifier/decode/wasm/instance.ts';
import { type EntryBatch, FLAG, hexAt } from '../../../src/verifier/model/batch.ts';
import type { SealKeys } from '../../../src/verifier/model/entry.ts';
import { unhashedKey } from '../../../src/verifier/model/unhashed.ts';
import type { Contract } from '../../../src/verifier/reading/contract.ts';
import type { RecipeProgram } from '../../../src/verifier/recipe/recipe-program.ts';

/** A batch's columns for one entry. */
export interface Row {
  sequence: number;
  time: number;
  flags: number;
  previous: string;
  digest: string;
  computed: string;
  seal: string;
  computedSeal: string;
  timestamp: string;
  /** Latin-1 text. */
  text: string;
}

/** Entries taken from an array, with the reason for stopping. */
export interface Taken {
  rows: Row[];
  /** Distinct members, in the order in which the decoder reports them. */
  unhashed: string[];
  keyIds: string[];
  stop: Stop;
  /** Offset from the first byte of the array. */
  offset: number;
  place: string;
}

export function rowsOf(batch: EntryBatch): Row[] {
  const { count, sequences, times, flags, digestBytes, sealBytes, previous, stated, computed } = batch;
  return Array.from({ length: count }, (_, index) => ({
    sequence: sequences[index] ?? 0,
    time: times[index] ?? 0,
    flags: flags[index] ?? 0,
    previous: hexAt(previous, index, digestBytes),
    digest: hexAt(stated, index, digestBytes),
    computed: hexAt(computed, index, digestBytes),
    seal: hexAt(batch.statedSeals, index, sealBytes),
    computedSeal: hexAt(batch.computedSeals, index, sealBytes),
    timestamp: batch.timestamp(index),
    text: Buffer.from(batch.sent(index)).toString('latin1'),
  }));
}

const unhashedOf = ({ unhashed }: EntryBatch) => unhashed.map((one) => unhashedKey(one.unhashed));

export interface Subject {
  contract: Contract;
  keys: SealKeys;
  streamId: string;
  /** Program to use instead of the contract's. */
  program?: RecipeProgram;
}

/** The fast decoder on the elements after an array's bracket, and the reference decoder on the same bytes. */
export class ComparedDecoders {
  readonly #subject: Subject;
  readonly #reference: ReferenceDecoder;
  readonly #exports: KernelExports;
  readonly decoder: WasmDecoder;

  constructor(subject: Subject) {
    const program = subject.program ?? subject.contract.program;
    this.#subject = subject;
    this.#reference = new ReferenceDecoder(subject.contract, subject.keys);
    // The kernel returned last is the next to be reused.
    this.#exports = instantiate();
    giveBack(this.#exports);
    const { streamId, keys } = subject;
    const decoder =
      program === null
        ? null
        : WasmDecoder.open({ program, streamId, keys, depth: 2 }, (bytes) => this.#reference.read(bytes));
    if (decoder === null) throw new Error(`there is no fast decoder for ${subject.contract.name}`);
    this.decoder = decoder;
  }

  /** Returns the entries that the fast decoder takes, in blocks of this size. */
  taken(array: Uint8Array, block = this.decoder.input.length): Taken {
    const { decoder } = this;
    const rows: Row[] = [];
    const [unhashed, keyIds] = [new Set<string>(), new Set<string>()];
    let [at, end] = [0, 0];
    let place: 'first' | 'after' | 'next' = 'first';
    for (;;) {
      end = Math.min(end + block, array.length, at + decoder.input.length);
      decoder.input.set(array.subarray(at, end));
      const run = decoder.run(0, end - at, end - at, place);
      const batch = run.columns === null ? null : decoder.toBatch(run.columns);
      rows.push(...(batch === null ? [] : rowsOf(batch)));
      for (const one of batch === null ? [] : unhashedOf(batch)) unhashed.add(one);
      for (const id of batch?.keyIds ?? []) keyIds.add(id);
      at += run.end;
      place = run.place;
      if (run.stop !== 'needs-more' || end === array.length)
        return { rows, unhashed: [...unhashed], keyIds: [...keyIds].sort(), stop: run.stop, offset: at, place };
    }
  }

  /** Returns how the reference decoder's rows differ from the fast decoder's; null if they agree. */
  disagreement({ rows, unhashed, keyIds }: Pick<Taken, 'rows' | 'unhashed' | 'keyIds'>): string | null {
    if (rows.length === 0) return null;
    try {
      const bytes = Buffer.from(rows.map(({ text }) => text).join(','), 'latin1');
      const { batch } = this.#reference.decode(bytes, 0, 'next');
      if (batch === null) return 'there is no entry';
      const own = { rows: rowsOf(batch), unhashed: unhashedOf(batch), keyIds: batch.keyIds.toSorted() };
      const [ours, theirs] = [JSON.stringify({ rows, unhashed, keyIds }), JSON.stringify(own)];
      if (ours !== theirs) return `${ours}, not ${theirs}`;
      if (rows.some(({ flags }) => (flags & FLAG.noted) !== 0)) return 'there is more to be said';
      const { streamId } = this.#subject;
      return batch.streams?.every((stream) => stream === null || stream === streamId) === true
        ? null
        : 'another stream';
    } catch (error) {
      if (isEvidenceError(error)) return error.message;
      throw error;
    }
  }

  /**
   * Returns the digest that the module computes of the last element, so that a test can state the best possible one.
   */
  ownDigest(elements: readonly string[]): string {
    const program = this.#subject.program ?? this.#subject.contract.program;
    const bytes = { 'sha-256': 32, 'sha-384': 48, 'sha-512': 64 }[program?.digest.algorithm ?? 'sha-256'];
    const at = this.#exports.computed.value + (elements.length - 1) * bytes;
    new Uint8Array(this.#exports.memory.buffer, at, bytes).fill(0);
    this.taken(Buffer.from(`${elements.join(',')}]`, 'latin1'));
    return Buffer.from(this.#exports.memory.buffer, at, bytes).toString('hex');
  }
}

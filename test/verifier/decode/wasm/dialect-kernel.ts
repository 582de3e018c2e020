import { PackageReader } from '../../../../src/verifier/chain/package.ts';
import { instantiate } from '../../../../src/verifier/decode/wasm/instance.ts';
import { ChainKernel } from '../../../../src/verifier/decode/wasm/kernel.ts';
import type { Contract } from '../../../../src/verifier/reading/contract.ts';
import { STREAM } from '../../../support/chain.ts';
import { type Dialect, digestBytes, packageIn, stamp } from '../../../support/dialects.ts';

interface Accepted {
  sequence: number;
  digest: string;
  timestamp: string;
  text: string;
}

/** A kernel over elements of a dialect, given in latin1, held against the slow path. */
export class DialectKernel {
  readonly #dialect: Dialect;
  readonly #exports = instantiate();
  readonly #kernel: ChainKernel;
  readonly #known: ReadonlySet<string>;

  /** @param known elements whose uncovered members the kernel is told of. */
  constructor(dialect: Dialect, known: readonly string[]) {
    const { plainKind } = dialect.contract;
    if (plainKind === null) throw new Error(`${dialect.name} has no kernel`);
    this.#dialect = dialect;
    this.#known = this.#readSlowly(known).uncovered;
    const keys = new Map([...dialect.keys].map(([id, key]) => [id, key.export()]));
    const { firstSequence } = dialect.contract;
    this.#kernel = new ChainKernel({ ...plainKind, streamId: STREAM, firstSequence, depth: 2, keys }, this.#exports);
    this.#kernel.knowUncovered(this.#known);
  }

  /** What it accepts of the elements, in blocks of so many bytes. */
  accepted(elements: readonly string[], block = this.#kernel.input.length): Accepted[] {
    const array = Buffer.from(`${elements.join(',')}]`, 'latin1');
    const accepted: Accepted[] = [];
    this.#kernel.setGenesis(this.#dialect.contract.firstSequence);
    let [at, end]: [number, number] = [0, 0];
    let place: 'first' | 'after' | 'next' = 'first';
    for (;;) {
      end = Math.min(end + block, array.length);
      this.#kernel.input.set(array.subarray(at, end));
      const run = this.#kernel.run(0, end - at, place);
      const { records } = this.#kernel;
      for (let index = 0; index < run.regular; index++)
        accepted.push({
          sequence: records.sequence(index),
          digest: records.digest(index),
          timestamp: records.timestamp(index),
          text: array.toString('latin1', at + records.start(index), at + records.end(index)),
        });
      at += run.offset;
      place = run.place;
      if (run.stop !== 'needs-more' || end === array.length) return accepted;
    }
  }

  /** The digest that the kernel itself computes of an element behind `before`: nobody could state a better one. */
  ownDigest(before: readonly string[], draft: string): string {
    const bytes = digestBytes(this.#dialect);
    const at = this.#exports.digests.value + before.length * bytes;
    new Uint8Array(this.#exports.memory.buffer, at, bytes).fill(0);
    this.accepted([...before, stamp(this.#dialect, draft, '00'.repeat(bytes))]);
    return Buffer.from(this.#exports.memory.buffer, at, bytes).toString('hex');
  }

  /** Why the slow path does not say of what was accepted what the kernel says, or null. */
  disagreement(accepted: readonly Accepted[]): string | null {
    if (accepted.length === 0) return null;
    const { read, walk, defect, uncovered } = this.#readSlowly(accepted.map(({ text }) => text));
    if (defect !== null) return defect.message;
    const findings = walk.findings.list();
    if (findings.length > 0) return findings.map(({ code, message }) => `${code}: ${message}`).join('; ');
    const unknown = [...uncovered].filter((what) => !this.#known.has(what));
    if (unknown.length > 0) return `not covered: ${unknown.join(', ')}`;
    const ours = accepted.map(({ sequence, digest, timestamp }) => ({ sequence, digest, timestamp }));
    const same = JSON.stringify(read) === JSON.stringify(ours);
    if (!same) return `${JSON.stringify(read)}, not ${JSON.stringify(ours)}`;
    if (walk.contentComputed !== accepted.length) return `${walk.contentComputed} digests are computed`;
    const seals = this.#dialect.contract.hasSeals ? accepted.length : 0;
    return walk.seals.verified === seals ? null : `${walk.seals.verified} seals are verified`;
  }

  #readSlowly(elements: readonly string[]) {
    const read: Omit<Accepted, 'text'>[] = [];
    const slow: Contract = {
      ...this.#dialect.slow,
      readEntry: (...entryArguments) => {
        const entry = this.#dialect.slow.readEntry(...entryArguments);
        const { sequence, content, timestamp } = entry;
        read.push({ sequence, digest: content.state === 'computed' ? content.digest : content.state, timestamp });
        return entry;
      },
    };
    const reader = new PackageReader(slow, this.#dialect.keys, { streamId: STREAM });
    reader.push(packageIn(this.#dialect, elements));
    const { walk, defect } = reader.finish();
    return { read, walk, defect, uncovered: walk.uncovered };
  }
}

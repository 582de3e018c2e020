import { createHmac } from 'node:crypto';
import { ElementScanner } from '../../../../src/core/json/elements.ts';
import { PackageReader } from '../../../../src/verifier/chain/package.ts';
import { instantiate } from '../../../../src/verifier/decode/wasm/instance.ts';
import {
  ChainKernel,
  type KernelOptions,
  type ReadingPlace,
  type Tip,
} from '../../../../src/verifier/decode/wasm/kernel.ts';
import type { Contract } from '../../../../src/verifier/reading/contract.ts';
import { defaultContract } from '../../../../src/verifier/reading/default-contract.ts';
import { KEYS, packageOf, SEAL_KEY, STREAM } from '../../../support/chain.ts';

const kind = defaultContract.plainKind;
if (kind === null) throw new Error('the kernel knows the default contract');

/** The default contract as the kernel is told of it. */
export const OPTIONS: KernelOptions = {
  ...kind,
  streamId: STREAM,
  firstSequence: 1,
  depth: 2,
  keys: new Map([['k1', Buffer.from(SEAL_KEY)]]),
};

/** What the kernel made of the elements of one array. */
export interface Outcome {
  regular: { sequence: number; digest: string; timestamp: string; text: string }[];
  stop: string;
  /** Where it stopped, from the first byte of the array on. */
  offset: number;
  place: ReadingPlace;
  tip: Tip | null;
}

/** Runs over the elements of an array, which follow its bracket, in blocks of so many bytes, until the kernel stops. */
export function runKernel(kernel: ChainKernel, array: Uint8Array, block = kernel.input.length): Outcome {
  kernel.setGenesis(1);
  const regular: Outcome['regular'] = [];
  let [at, end]: [number, number] = [0, 0];
  let place: ReadingPlace = 'first';
  for (;;) {
    end = Math.min(end + block, array.length, at + kernel.input.length);
    kernel.input.set(array.subarray(at, end));
    const run = kernel.run(0, end - at, place);
    const { records } = kernel;
    for (let index = 0; index < run.regular; index++)
      regular.push({
        sequence: records.sequence(index),
        digest: records.digest(index),
        timestamp: records.timestamp(index),
        text: Buffer.from(array.subarray(at + records.start(index), at + records.end(index))).toString('latin1'),
      });
    at += run.offset;
    place = run.place;
    if (run.stop !== 'needs-more' || end === array.length)
      return { regular, stop: run.stop, offset: at, place, tip: kernel.tip };
  }
}

const [HEAD] = JSON.stringify({ ...packageOf([]), entries: undefined, checkpoints: [] }).split(/}$/);

/** The slow path over a package of these elements, each given as its bytes in latin1. */
export function readSlowly(elements: readonly string[]) {
  const read: { sequence: number; digest: string | null; stated: string; timestamp: string }[] = [];
  const slow: Contract = {
    ...defaultContract,
    plainKind: null,
    readEntry: (...entryArguments) => {
      const entry = defaultContract.readEntry(...entryArguments);
      const { sequence, content, digest, timestamp } = entry;
      read.push({ sequence, digest: content.state === 'computed' ? content.digest : null, stated: digest, timestamp });
      return entry;
    },
  };
  const reader = new PackageReader(slow, KEYS, { streamId: STREAM });
  reader.push(Buffer.from(`${HEAD},"entries":[${elements.join(',')}]}`, 'latin1'));
  const { walk, defect } = reader.finish();
  return { read, findings: walk.findings.list(), defect, sealsVerified: walk.seals.verified };
}

/**
 * Why the slow path does not say of the regular entries what the kernel says, or null: it must find nothing, and compute
 * the same digests.
 */
export function disagreement({ regular }: Outcome): string | null {
  if (regular.length === 0) return null;
  const { read, findings, defect, sealsVerified } = readSlowly(regular.map(({ text }) => text));
  if (defect !== null) return defect.message;
  if (findings.length > 0) return findings.map(({ code, message }) => `${code}: ${message}`).join('; ');
  if (read.length !== regular.length || sealsVerified !== regular.length) return `${read.length} entries are read`;
  for (const [index, { sequence, digest, timestamp }] of regular.entries()) {
    const slow = read[index];
    if (slow?.sequence !== sequence) return `the sequence is ${slow?.sequence}, not ${sequence}`;
    if (slow.digest !== digest || slow.stated !== digest) return `the digest is ${slow.digest}, not ${digest}`;
    if (slow.timestamp !== timestamp) return `the timestamp is ${slow.timestamp}, not ${timestamp}`;
  }
  return null;
}

/** Stand in an entry for what it is to state of itself. */
export const HASH = 'h'.repeat(64);
export const SEAL = 's'.repeat(64);

export function stamp(entry: string, digest: string): string {
  return entry.replace(HASH, digest).replace(SEAL, createHmac('sha256', SEAL_KEY).update(digest).digest('hex'));
}

/** The digest that the slow path computes; null when it reads no certain entry. */
export function slowDigest(entry: string): string | null {
  let digest: string | null = null;
  const scanner = new ElementScanner([], {
    onElement: (bytes, members) => {
      const { content } = defaultContract.readEntry(bytes, members, KEYS);
      digest = content.state === 'computed' ? content.digest : null;
    },
  });
  try {
    scanner.push(Buffer.from(`[${stamp(entry, '0'.repeat(64))}]`, 'latin1'));
  } catch {
    return null;
  }
  return digest;
}

const exports = instantiate();
const kernel = new ChainKernel(OPTIONS, exports);

/** What the kernel makes of elements, which follow the bracket of an array, given in latin1. */
export function judge(array: string, block?: number): Outcome {
  return runKernel(kernel, Buffer.from(array, 'latin1'), block);
}

/** The digest that the kernel itself computes of an element behind `before`: nobody could state a better one. */
export function ownDigest(before: readonly string[], entry: string): string {
  judge([...before, stamp(entry, '0'.repeat(64))].join(','));
  return Buffer.from(exports.memory.buffer, exports.digests.value + before.length * 32, 32).toString('hex');
}

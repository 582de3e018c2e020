import { base64Bytes } from '../../../core/bytes.ts';
import { lazy } from '../../../core/lazy.ts';
import { WASM } from './binary.ts';

/** Exports of `kernel.c`. Addresses are in its memory, which never grows. */
// Over ten members: the exports of the WebAssembly module.
export interface KernelExports {
  memory: { readonly buffer: ArrayBuffer };
  input: Address;
  exchange: Address;
  sequences: Address;
  times: Address;
  starts: Address;
  ends: Address;
  timestamps: Address;
  timestamp_lengths: Address;
  flags: Address;
  previous: Address;
  stated: Address;
  computed: Address;
  stated_seals: Address;
  computed_seals: Address;
  unhashed: Address;
  report: Address;
  begin(firstSequence: number, maxDepth: number): void;
  set_form(asSent: number, ascii: number, sorted: number, doubles: number, gap: number, chosen: number): void;
  set_values(textNumbers: number, timeUnit: number): void;
  set_digest(algorithm: number, encoding: number, prefixLength: number): number;
  set_genesis(kind: number, length: number): number;
  name(length: number, container: number, written: number, covered: number): number;
  play(role: number, row: number): void;
  group(row: number, group: number): void;
  step(kind: number, row: number, count: number, length: number, pinned: number): number;
  expect_stream(length: number): number;
  key_digests(): void;
  expect_seals(algorithm: number, encoding: number): void;
  check_seals(overBytes: number): void;
  add_key(forSeals: number, idLength: number, keyLength: number): number;
  used_key(forSeals: number, index: number): number;
  run(start: number, end: number, limit: number, place: number): void;
  forget(): void;
}

interface Address {
  readonly value: number;
}

/** Part of the interface that is used here; neither Node's types nor those of ECMAScript describe it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: unknown };
};

const compiled = lazy(() => new WebAssembly.Module(base64Bytes(WASM) ?? new Uint8Array()));

/** Kernels that were returned, for reuse: their memory has megabytes, and a new one costs milliseconds. */
const idle: KernelExports[] = [];
const MAX_IDLE = 8;

/** Returns a kernel with separate memory and without keys. Compiles the module on first use. */
export function instantiate(): KernelExports {
  const known = idle.pop();
  if (known !== undefined) return known;
  return new WebAssembly.Instance(compiled()).exports as KernelExports;
}

/** Returns a kernel for reuse, after it has forgotten its keys. */
export function giveBack(kernel: KernelExports): void {
  kernel.forget();
  if (idle.length < MAX_IDLE) idle.push(kernel);
}

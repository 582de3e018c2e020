import { WASM } from './binary.ts';

/** What `kernel.c` exports. Addresses are of its memory, which never grows. */
export interface KernelExports {
  memory: { readonly buffer: ArrayBuffer };
  input: Address;
  exchange: Address;
  records: Address;
  tip: Address;
  report: Address;
  begin(firstSequence: number, maxDepth: number): void;
  name(length: number, role: number, omitted: number): number;
  expect_stream(length: number): number;
  check_seals(): void;
  add_key(idLength: number, keyLength: number): number;
  trust_tip(given: number): void;
  run(start: number, end: number, place: number): void;
  sha256(length: number): void;
}

interface Address {
  readonly value: number;
}

/** The part of the interface that is used here: neither Node's types nor those of ECMAScript describe it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: unknown };
};

let compiled: object | undefined;

/** A new kernel with memory of its own. It is compiled once, when it is first wanted. */
export function instantiate(): KernelExports {
  compiled ??= new WebAssembly.Module(Buffer.from(WASM, 'base64'));
  return new WebAssembly.Instance(compiled).exports as KernelExports;
}

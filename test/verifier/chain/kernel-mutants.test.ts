import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { PackageReader } from '../../../src/verifier/chain/package.ts';
import { type TrialColumn, tryDecoder } from '../../../src/verifier/chain/trial.ts';
import { ReferenceDecoder } from '../../../src/verifier/decode/reference/decoder.ts';
import { WasmDecoder } from '../../../src/verifier/decode/wasm/decoder.ts';
import { giveBack, instantiate, type KernelExports } from '../../../src/verifier/decode/wasm/instance.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import {
  bare,
  chainOf,
  entryAfter,
  examineReading,
  KEYS,
  packageOf,
  type SentEntry,
  STREAM,
} from '../../support/chain.ts';
import { JUDGING_MUTANTS, type Mutant } from './kernel-mutants.ts';

const SOURCES = resolve(import.meta.dirname, '../../../src');
const KERNEL = 'verifier/decode/wasm';
const folder = mkdtempSync(join(tmpdir(), 'kernel-mutants-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Builds the module of a mutant, or of the unchanged decoder. */
function build(mutant: Mutant | null): object {
  const copy = mkdtempSync(join(folder, 'src-'));
  mkdirSync(join(copy, 'verifier/decode'), { recursive: true });
  for (const shared of ['core', 'verifier/model']) symlinkSync(join(SOURCES, shared), join(copy, shared));
  cpSync(join(SOURCES, KERNEL), join(copy, KERNEL), { recursive: true });
  if (mutant !== null) {
    const path = join(copy, KERNEL, mutant.file);
    const text = readFileSync(path, 'utf8');
    expect(text.split(mutant.from), 'places of what is changed').toHaveLength(2);
    writeFileSync(
      path,
      text.replace(mutant.from, () => mutant.to),
    );
  }
  const made = join(copy, 'made.ts');
  execFileSync('sh', [join(copy, KERNEL, 'build.sh'), made]);
  const [, base64 = ''] = /WASM =\n {2}'([^']*)'/.exec(readFileSync(made, 'utf8')) ?? [];
  return new WebAssembly.Module(Buffer.from(base64, 'base64'));
}

/** Runs `work`, whose first decoder uses this module. */
function withKernel<T>(module: object, work: () => T): T {
  const kernel = new WebAssembly.Instance(module).exports as KernelExports;
  giveBack(kernel);
  try {
    return work();
  } finally {
    // Returned kernels are reused, so take this one out.
    const others: KernelExports[] = [];
    for (let next = instantiate(); next !== kernel; next = instantiate()) others.push(next);
    for (const other of others) giveBack(other);
  }
}

const chain = chainOf(300);
const [before, edited] = [chain[149], chain[150]] as [SentEntry, SentEntry];

/** Replaces a predecessor, then hashes and seals all later entries. */
function relinked(): SentEntry[] {
  const linked = chain.slice(0, 150);
  let last: SentEntry = { ...before, hash: 'ab'.repeat(32) };
  for (let sequence = 151; sequence <= 300; sequence++) {
    last = entryAfter(last);
    linked.push(last);
  }
  return linked;
}

const CHAINS: [words: string, entries: SentEntry[], findings: string[]][] = [
  ['a sound chain', chain, []],
  ['another predecessor, all from there on hashed and sealed anew', relinked(), ['order/broken-link 151']],
  ['an edited entry', chain.with(150, { ...edited, actor: 'mallory' }), ['content/mismatch 151']],
  ['a swapped seal', chain.with(150, { ...edited, seal: before.seal }), ['seal/mismatch 151']],
];

/** Returns the findings of the fold, whether the fast decoder was used, and the number of verified seals. */
function read(entries: SentEntry[]) {
  using reader = new PackageReader(defaultContract, KEYS);
  reader.push(Buffer.from(JSON.stringify(packageOf(entries))));
  const isBelieved = reader.segments !== null;
  const reading = reader.finish();
  return { isBelieved, findings: bare(examineReading(reading).findings), verified: reading.walk.seals.verified };
}

function wrongColumns(): readonly TrialColumn[] | null {
  const { program } = defaultContract;
  if (program === null) throw new Error('the default contract has a program');
  const reference = new ReferenceDecoder(defaultContract, KEYS);
  using decoder = WasmDecoder.open({ program, streamId: STREAM, keys: KEYS, depth: 2 }, (bytes) =>
    reference.read(bytes),
  );
  if (decoder === null) throw new Error('there is a decoder');
  return tryDecoder(decoder, reference, program, Buffer.from(JSON.stringify(edited)));
}

test.each(CHAINS)('the fold judges %s, which the fast decoder takes', (_words, entries, findings) => {
  const verified = findings[0]?.startsWith('seal') === true ? 299 : 300;
  expect(read(entries)).toEqual({ isBelieved: true, findings, verified });
  expect(wrongColumns()).toEqual([]);
});

describe.each(JUDGING_MUTANTS)('a decoder without $rule', (mutant) => {
  const { columns } = mutant;
  const module = build(mutant);

  test(`is caught: ${columns.join(', ') || 'what it compares changes nothing'}`, () => {
    expect(withKernel(module, wrongColumns)).toEqual(columns);
  });

  test.each(CHAINS)('%s is judged as it should be', (_words, entries, findings) => {
    const outcome = withKernel(module, () => read(entries));
    expect([outcome.isBelieved, outcome.findings]).toEqual([columns.length === 0, findings]);
  });
});

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: unknown };
};

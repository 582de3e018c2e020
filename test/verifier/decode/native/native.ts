import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { MAX_DEPTH } from '../../../../src/core/json/canonical.ts';
import { giveBack, instantiate, type KernelExports } from '../../../../src/verifier/decode/wasm/instance.ts';
import { PLACES, SIZES } from '../../../../src/verifier/decode/wasm/layout.ts';
import { KernelSettings } from '../../../../src/verifier/decode/wasm/settings.ts';
import { damagedPackage } from '../../../fuzz/dialects.ts';
import { STREAM } from '../../../support/chain.ts';
import { ALL_DIALECTS, chainIn, type Dialect, packageIn, type Random } from '../../../support/dialects.ts';

const run = promisify(execFile);
export const SOURCES = resolve(import.meta.dirname, '../../../../src/verifier/decode/wasm');

/** Dialects whose entries the decoder takes, by the number of their program in the fuzz target. */
export const PROGRAMMED: readonly Dialect[] = ALL_DIALECTS.filter(({ contract }) => contract.program !== null);

/**
 * Builds the fuzz target from the decoder's source, for this machine.
 * @param folder for the output.
 * @param sources of the decoder.
 * @returns the program, which takes libFuzzer's arguments.
 */
export async function buildFuzzTarget(folder: string, sources = SOURCES): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'programs.h'), programsOf(PROGRAMMED));
  const target = join(folder, 'fuzz');
  await run('clang', [
    ...[
      '-std=c11',
      '-O1',
      '-gline-tables-only',
      '-fno-omit-frame-pointer',
      '-fno-strict-aliasing',
      '-Wall',
      '-Wextra',
      '-Werror',
    ],
    // Attributes that only WebAssembly has.
    ...['-Wno-unknown-attributes', '-Wno-ignored-attributes'],
    ...['-fsanitize=fuzzer,address,undefined,float-cast-overflow', '-fno-sanitize-recover=all'],
    ...['-I', import.meta.dirname, '-I', sources, '-I', folder],
    ...[join(import.meta.dirname, 'fuzz.c'), '-o', target],
  ]);
  return target;
}

/** Returns each program as a C function that makes the calls by which `KernelSettings` configures the decoder. */
function programsOf(dialects: readonly Dialect[]): string {
  const names = functionNames();
  const functions = dialects.map((dialect, index) => {
    const calls = recordSettings(dialect).map(({ name, args, exchange }) => {
      const load = exchange === null ? '' : `  load((const u8[]){${[...exchange, 0].join()}}, ${exchange.length});\n`;
      return `${load}  ${names.get(name) ?? name}(${args.join(', ')});\n`;
    });
    return `// ${dialect.name}\nstatic void program_${index}(void) {\n${calls.join('')}}\n`;
  });
  const list = dialects.map((_dialect, index) => `program_${index}`);
  return `${functions.join('')}#define PROGRAM_COUNT ${list.length}\nstatic void (*const PROGRAMS[])(void) = {${list.join(', ')}};\n`;
}

/** Maps exported names to names of C functions. */
function functionNames(): Map<string, string> {
  const text = ['kernel.c', 'settings.h'].map((file) => readFileSync(join(SOURCES, file), 'utf8')).join('');
  return new Map(
    [...text.matchAll(/^EXPORT\("(\w+)"\) \w+ (\w+)\(/gm)].map(([, exported = '', name = '']) => [exported, name]),
  );
}

interface Call {
  name: string;
  args: number[];
  /** Content of `exchange` for the call; null to keep the preceding content. */
  exchange: Uint8Array | null;
}

function recordSettings({ contract, keys }: Dialect): Call[] {
  const { program } = contract;
  if (program === null) throw new Error('the decoder takes no entries of this dialect');
  const kernel = instantiate();
  const calls: Call[] = [];
  try {
    const recorder = recordingOf(kernel, calls);
    recorder.begin(program.firstSequence, MAX_DEPTH - 2);
    const settings = new KernelSettings(recorder, program, STREAM);
    settings.setKeys(new Map([...keys].map(([id, key]) => [id, key.export()])));
    return calls;
  } finally {
    giveBack(kernel);
  }
}

function recordingOf(kernel: KernelExports, calls: Call[]): KernelExports {
  let last = '';
  const exchanged = () => {
    const bytes = new Uint8Array(kernel.memory.buffer, kernel.exchange.value, SIZES.EXCHANGE_BYTES).slice();
    const text = bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
    const isSame = text.join() === last;
    last = text.join();
    return isSame ? null : text;
  };
  const recorded = Object.entries(kernel).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member];
    const record = (...args: number[]) => {
      calls.push({ name, args, exchange: exchanged() });
      return member(...args);
    };
    return [name, record];
  });
  return Object.fromEntries(recorded);
}

export interface Seed {
  dialect: Dialect;
  /** Bytes of the package, from its first entry on. */
  bytes: Buffer;
  input: Buffer;
}

/** Returns inputs of the fuzz target: sound and damaged packages of every dialect, from their first entry on. */
export function seedsOf(random: Random, each: number): Seed[] {
  return PROGRAMMED.flatMap((dialect, number) =>
    Array.from({ length: each }, (_, index) => {
      const whole = index === 0 ? packageIn(dialect, chainIn(dialect, 6, random)) : damagedPackage(dialect, random);
      const bytes = whole.subarray(behindArrayStart(whole, dialect));
      return {
        dialect,
        bytes,
        input: Buffer.concat([Buffer.of(number, Object.keys(PLACES).length * random(8)), bytes]),
      };
    }),
  );
}

function behindArrayStart(bytes: Buffer, { contract }: Dialect): number {
  const start = new RegExp(`"${contract.entriesPath.at(-1)}"\\s*:\\s*\\[`).exec(bytes.toString('latin1'));
  return start === null ? 0 : start.index + start[0].length;
}

/** An entry that the native decoder took. */
export interface Taken {
  dialect: Dialect;
  bytes: Buffer;
  sequence: number;
  stated: string;
  computed: string;
}

/** @param corpus folder with the inputs, named `seed-INDEX`. */
export async function takenBy(target: string, corpus: string, seeds: readonly Seed[]): Promise<Taken[]> {
  const files = seeds.map((_seed, index) => join(corpus, `seed-${index}`));
  const env = { ...process.env, PRINT_TAKEN: '1' };
  // With leak detection, libFuzzer runs an input twice if it suspects a leak.
  const { stdout } = await run(target, ['-detect_leaks=0', ...files], { env, maxBuffer: 2 ** 28 });
  const ofEach = stdout.split(/^stop \d+\n/m);
  return seeds.flatMap(({ dialect, bytes }, index) =>
    [...(ofEach[index] ?? '').matchAll(/^(\d+) (\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+)$/gm)].map(
      ([, start, end, sequence, stated = '', computed = '']) => ({
        dialect,
        bytes: bytes.subarray(Number(start), Number(end)),
        sequence: Number(sequence),
        stated,
        computed,
      }),
    ),
  );
}

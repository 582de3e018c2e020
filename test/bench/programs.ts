import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import build from '../support/built.ts';
import { builtFolder, EVIDENCE, run } from '../support/process.ts';

export const HERE = import.meta.dirname;

/** Key with which entries.c seals, under the id k1. */
const SEAL_KEY = 'bench-seal-key';

/** Paths of the measured programs and of the tools that measure them. */
export interface Programs {
  measure: string;
  entries: string;
  limit: string;
  /** The built `evidence`, which starts from the few files of `dist` as the published one does. */
  evidence: string;
  /** File for `--seal-key k1=FILE`, and the key itself. */
  sealKey: { file: string; text: string };
  /** True if `evidence verify` has an option for the number of threads. */
  hasThreads: boolean;
}

/** Compiles the programs into a folder. @throws Error that names the package to install. */
export async function preparePrograms(folder: string): Promise<Programs> {
  const [measure, entries, limit] = await Promise.all([
    compile('measure', [], folder),
    compile('entries', ['-lcrypto'], folder),
    compile('limit', ['-lcrypto'], folder),
  ]);
  await build();
  const evidence = join(builtFolder(), 'dist', EVIDENCE);
  const file = join(folder, 'seal.key');
  writeFileSync(file, SEAL_KEY);
  const help = await run(process.execPath, [evidence, 'verify', '--help'], folder);
  return {
    measure,
    entries,
    limit,
    evidence,
    sealKey: { file, text: SEAL_KEY },
    hasThreads: /^\s*--threads\b/m.test(help),
  };
}

async function compile(name: string, libraries: readonly string[], folder: string): Promise<string> {
  const program = join(folder, name);
  try {
    await run('cc', ['-O2', join(HERE, `${name}.c`), ...libraries, '-o', program], folder);
  } catch (error) {
    throw new Error(
      `${name}.c cannot be compiled. The bench needs a C compiler and OpenSSL's headers (Debian: apt-get install gcc libc6-dev libssl-dev).`,
      { cause: error },
    );
  }
  return program;
}

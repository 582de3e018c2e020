import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const SRC = import.meta.dirname;
const FACES = ['index', 'index.browser'];

/** The types of what others import, and of all that these name: texts by the names of their files. */
export async function declarationsOfLibrary(): Promise<Map<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'types-'));
  try {
    const tsc = join(SRC, '../node_modules/.bin/tsc');
    await promisify(execFile)(tsc, ['--project', join(SRC, 'tsconfig.library.json'), '--outDir', folder]);
    return reachedFrom(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const IMPORTED = /((?:from|import)\s*\(?\s*['"])(\.[^'"]+)\.ts(['"])/g;

function reachedFrom(folder: string): Map<string, string> {
  const reached = new Map<string, string>();
  const names = new Set(FACES.map((name) => `${name}.d.ts`));
  for (const name of names) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, , path = ''] of text.matchAll(IMPORTED)) names.add(join(dirname(name), `${path}.d.ts`));
    reached.set(name, text.replace(IMPORTED, '$1$2.js$3'));
  }
  return reached;
}

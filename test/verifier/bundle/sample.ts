import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, writeBundle } from '../../../src/exporter/bundle/write.ts';
import type { BundleFinding, BundleFindingCode } from '../../../src/verifier/bundle/bundle-finding.ts';
import { openBundle } from '../../../src/verifier/bundle/read.ts';

export const SLUG = 'payments-12345678';

/** Returns the options of a small bundle with every kind of file. */
export function sampleOptions(target: string, changes: Partial<BundleOptions> = {}): BundleOptions {
  return {
    target,
    slug: SLUG,
    bagInfo: [
      ['External-Identifier', 'payments'],
      ['Evidence-Status', 'COMPLETE'],
    ],
    date: '2026-11-01T00:00:00Z',
    tagFiles: [{ name: 'README.txt', content: 'How to check this.\n' }],
    payload: [
      { path: 'data/evidence.json', content: `{"entries":[${'{"actor":"alice","action":"read"},'.repeat(20)}{}]}` },
      { path: 'data/summary.json', content: '' },
      { path: 'data/checkpoints/12.tsr', content: Uint8Array.from([0x30, 0x03, 0x02, 0x01, 0x00]) },
    ],
    ...changes,
  };
}

export function writeSample(target: string, changes: Partial<BundleOptions> = {}) {
  return writeBundle(sampleOptions(target, changes));
}

export async function problemsOf(
  path: string,
  ...limits: Parameters<typeof openBundle>[1][]
): Promise<BundleFinding[]> {
  const bundle = await openBundle(path, limits[0]);
  try {
    return await bundle.checkIntegrity();
  } finally {
    await bundle.close();
  }
}

/** Reads a file that may not be a zip: returns the codes of its findings, or `unreadable`. */
export async function outcomeOf(path: string): Promise<(BundleFindingCode | 'unreadable')[]> {
  try {
    return (await problemsOf(path)).map(({ code }) => code);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'unreadable') return ['unreadable'];
    throw error;
  }
}

export interface ForeignEntry {
  name: string;
  /** Content in UTF-8. */
  content: string;
  /** Unix mode with the file's type; a zip stores it in the upper half of the external attributes. */
  mode?: number;
  method?: 'stored' | 'deflated' | 'bzip2';
  zip64?: boolean;
}

/** Writes a zip with Python's zipfile, which accepts any name and any attributes. */
export function writeForeignZip(target: string, entries: readonly ForeignEntry[], comment = ''): void {
  const script = fileURLToPath(new URL('foreign-zip.py', import.meta.url));
  execFileSync('python3', [script, target], { input: JSON.stringify({ entries, comment }) });
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

const linesOf = (files: Record<string, string>) =>
  Object.entries(files)
    .map(([path, content]) => `${digestOf(content)}  ${path}\n`)
    .join('');

/** Returns a valid bag made without the exporter's code, from a payload and further tag files. */
export function foreignBag(payload: Record<string, string>, tags: Record<string, string> = {}): ForeignEntry[] {
  const tagFiles = {
    'bagit.txt': 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n',
    'manifest-sha256.txt': linesOf(payload),
    ...tags,
  };
  const files = { ...tagFiles, ...payload, 'tagmanifest-sha256.txt': linesOf(tagFiles) };
  return Object.entries(files).map(([path, content]) => ({ name: `bag/${path}`, content }));
}

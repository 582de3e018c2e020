import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { VERIFICATION } from '../../../src/verifier/bundle/files.ts';
import { giveBack, instantiate } from '../../../src/verifier/decode/wasm/instance.ts';
import { verifyBundle } from '../../../src/verifier/verify/bundle.ts';
import { verifyPackage } from '../../../src/verifier/verify/package-file.ts';
import { startRangeThreads } from '../../../src/verifier/verify/range-threads.ts';
import { chainOf, KEYS, packageOf } from '../../support/chain.ts';
import { writePackageBundle } from '../../support/package-bundle.ts';
import { type BagFiles, rebag } from '../../support/rebag.ts';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

const OPTIONS = { contract: null, sealKeys: KEYS, roots: null, now: new Date(0) };
const evidence = Buffer.from(JSON.stringify(packageOf(chainOf(50))));

async function bundle(change: (files: BagFiles) => void): Promise<string> {
  const [made, target] = [join(folder, 'made.zip'), join(folder, 'bundle.zip')];
  await writePackageBundle({ target: made, evidence });
  await rebag(made, target, change);
  return target;
}

const verify = async (change: (files: BagFiles) => void) => {
  const target = await bundle(change);
  await verifyBundle(target, target, OPTIONS);
};

test.each<[words: string, verifyIt: () => Promise<unknown>]>([
  ['a sound bundle', () => verify(() => {})],
  ['a bundle that does not say what was verified', () => verify((files) => files.delete(VERIFICATION))],
  [
    'a bundle whose package is cut off',
    () => verify((files) => files.set('data/evidence.json', evidence.subarray(0, -9))),
  ],
  [
    'a package whose verification is interrupted',
    async () => {
      const file = join(folder, 'package.json');
      writeFileSync(file, evidence);
      // At the second check, some entries have been read.
      let asked = 0;
      const signal = new AbortController().signal;
      signal.throwIfAborted = () => {
        if (++asked === 2) throw new Error('interrupted');
      };
      await using threads = startRangeThreads(0);
      await expect(verifyPackage(file, { ...OPTIONS, threads, signal })).rejects.toThrow('interrupted');
    },
  ],
])('after %s was verified, no kernel keeps the keys', async (_words, verifyIt) => {
  const kernel = instantiate();
  giveBack(kernel);
  await verifyIt();
  // Returning a kernel erases its keys; the kernel returned last is reused next.
  const next = instantiate();
  expect(next).toBe(kernel);
  giveBack(next);
});

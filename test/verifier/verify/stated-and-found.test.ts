import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import { verifyBundle } from '../../../src/verifier/verify/bundle.ts';
import { chainOf, packageOf } from '../../support/chain.ts';
import { writePackageBundle } from '../../support/package-bundle.ts';
import { type BagFiles, rebag } from '../../support/rebag.ts';

/**
 * Members of findings in all outputs: `expected` comes from the evidence or a record, `actual` was computed or found.
 */

const folder = mkdtempSync(join(tmpdir(), 'stated-'));
const target = join(folder, 'target.zip');
const entries = chainOf(3);
const edited = entries.map((entry) => (entry.sequence === 2 ? { ...entry, actor: 'mallory' } : entry));
const EVIDENCE = 'data/evidence.json';
const honestEvidence = Buffer.from(JSON.stringify(packageOf(entries)));
const editedEvidence = Buffer.from(JSON.stringify(packageOf(edited)));
const replace = (path: string, from: RegExp, to: string) => (files: BagFiles) =>
  files.set(path, Buffer.from((files.get(path) ?? '').toString().replace(from, to)));

beforeAll(() => writePackageBundle({ target: join(folder, 'honest.zip'), evidence: honestEvidence }));
afterAll(() => rmSync(folder, { recursive: true }));

type Row = [words: string, change: (files: BagFiles) => void, code: string, stated: unknown, found: unknown];
test.each<Row>([
  [
    'the digest of a form, in the transfer log',
    (files) => files.set(EVIDENCE, editedEvidence),
    'bundle/contradiction',
    sha256(honestEvidence),
    sha256(editedEvidence),
  ],
  [
    'the digest of an entry',
    (files) => files.set(EVIDENCE, editedEvidence),
    'content/mismatch',
    entries[1]?.hash,
    expect.not.stringMatching(entries[1]?.hash ?? ''),
  ],
  [
    'a fact of the verdict',
    replace('data/verification.json', /("package_id": "pkg-1",\s+"entries": )3/, '$14'),
    'verdict/differs',
    '4',
    '3',
  ],
  [
    'a line of bag-info.txt',
    replace('bag-info.txt', /^(Source-Organization|External-Identifier): .*$/m, '$1: somebody'),
    'bundle/contradiction',
    expect.stringMatching(/: somebody$/),
    expect.not.stringMatching(/: somebody$/),
  ],
])('%s', async (_words, change, code, stated, found) => {
  await rebag(join(folder, 'honest.zip'), target, change);
  const options = { contract: null, sealKeys: new Map(), roots: null, now: new Date('2026-11-21T00:00:00Z') };
  const { findings, judged } = await verifyBundle(target, 'b.zip', options);
  const of = [...findings, ...(judged?.verdict.findings ?? [])].find(
    (one) => one.code === code && one.expected !== undefined,
  );
  expect([of?.expected, of?.actual]).toEqual([stated, found]);
});

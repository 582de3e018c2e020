import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRoots } from '../../src/core/timestamp/roots.ts';
import { refutes } from '../../src/core/timestamp/token-finding.ts';
import { verifyToken } from '../../src/core/timestamp/verify.ts';

interface Case {
  root: string;
  claim: 'proved' | 'refuted' | 'unproved';
  findings: string[];
  note: string;
}

const folder = join(import.meta.dirname, 'anchor');
const expected: { digest: string; cases: Record<string, Case> } = JSON.parse(
  readFileSync(join(folder, 'expected.json'), 'utf8'),
);
/** Behind the expiry of the certificate of `expired-since.tsr` and before that of all others. */
const now = new Date('2026-12-01T00:00:00Z');

/** The name of a case is a file, and after `#` what is different about its use. */
function fileOf(name: string): string {
  return name.split('#')[0] ?? name;
}

describe('tokens made by openssl', () => {
  test.each(Object.entries(expected.cases))('%s', (name, { root, claim, findings }) => {
    const roots = readRoots(readFileSync(join(folder, root), 'utf8'), root);
    const verdict = verifyToken(readFileSync(join(folder, fileOf(name))), { digest: expected.digest, roots, now });
    expect(verdict.faults.map(({ code }) => code)).toEqual(findings);
    expect(verdict.valid).toBe(claim === 'proved');
    expect(verdict.faults.some(refutes)).toBe(claim === 'refuted');
  });
});

test('every vector has an expectation and every expectation a vector', () => {
  const vectors = readdirSync(folder).filter((name) => name !== 'expected.json');
  const used = Object.entries(expected.cases).flatMap(([name, { root }]) => [fileOf(name), root]);
  expect(vectors.toSorted()).toEqual([...new Set(used)].toSorted());
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../src/core/digest.ts';
import { PackageReader } from '../../src/verifier/chain/package.ts';
import type { ClaimName } from '../../src/verifier/claims/claim.ts';
import { defaultContract } from '../../src/verifier/reading/default-contract.ts';
import { examineReading } from '../support/chain.ts';

interface Case {
  note: string;
  claims: Partial<Record<ClaimName, string>>;
  findings: Record<string, unknown>[];
}

const folder = join(import.meta.dirname, 'chain');
const expected: { seal_keys: Record<string, string>; cases: Record<string, Case> } = JSON.parse(
  readFileSync(join(folder, 'expected.json'), 'utf8'),
);
const keys = new Map(Object.entries(expected.seal_keys).map(([id, key]) => [id, toHmacKey(Buffer.from(key))] as const));

const PIECES: [string, number][] = [
  ['whole', Number.POSITIVE_INFINITY],
  ['in pieces of 1 MiB', 2 ** 20],
  ['in pieces of 1,021 bytes', 1021],
  ['one byte at a time', 1],
];

/** Reads a vector in pieces; each piece is a copy that is overwritten afterwards, as a reused read buffer would be. */
function examineVector(name: string, size: number) {
  const bytes = readFileSync(join(folder, `${name}.json`));
  const reader = new PackageReader(defaultContract, keys);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Uint8Array.prototype.slice.call(bytes, at, at + size);
    reader.push(piece);
    piece.fill(0x20);
  }
  return examineReading(reader.finish(), ['order'], {
    completeness: { kind: 'none', code: 'no-listing', reason: 'a vector stands by itself' },
  });
}

describe.each(PIECES)('packages made by other programs, read %s', (_words, size) => {
  test.each(Object.entries(expected.cases))('%s', (name, { claims, findings }) => {
    const { claims: actual, findings: found } = examineVector(name, size);
    const states = Object.fromEntries(Object.keys(claims).map((claim) => [claim, actual[claim as ClaimName].state]));
    expect(states).toEqual(claims);
    const bare = found.map(({ code, severity, sequence, from, to }) =>
      JSON.parse(JSON.stringify({ severity, code, sequence, from, to })),
    );
    expect(bare).toEqual(findings);
  });
});

test('every vector has an expectation and every expectation a vector', () => {
  const vectors = readdirSync(folder).filter((name) => name !== 'expected.json');
  expect(vectors.toSorted()).toEqual(
    Object.keys(expected.cases)
      .map((name) => `${name}.json`)
      .toSorted(),
  );
});

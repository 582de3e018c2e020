import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { timestampRequest } from '../../../src/exporter/export/stamp.ts';

const folder = mkdtempSync(join(tmpdir(), 'requests-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads a query with openssl. */
function read(query: Uint8Array): string {
  const file = join(folder, 'query.tsq');
  writeFileSync(file, query);
  return execFileSync('openssl', ['ts', '-query', '-in', file, '-text'], { stdio: 'pipe' }).toString();
}

describe('a request', () => {
  test.each(['sha256', 'sha384', 'sha512'])('for a %s digest says to openssl what it is to say', (algorithm) => {
    const digest = createHash(algorithm).update('an entry').digest('hex');
    const text = read(timestampRequest(digest, 0x8123456789abcdefn));
    expect(text).toContain('Version: 1\n');
    expect(text).toContain(`Hash Algorithm: ${algorithm}\n`);
    const dumped = [...text.matchAll(/^ {4}[0-9a-f]{4} - ((?:[0-9a-f]{2}[ -]?)+)/gm)].map(([, bytes = '']) => bytes);
    expect(dumped.join('').replace(/[^0-9a-f]/g, '')).toBe(digest);
    expect(text).toContain('Nonce: 0x8123456789ABCDEF\n');
    expect(text).toContain('Certificate required: yes\n');
    expect(text).toContain('Policy OID: unspecified\n');
  });

  test.each([1n, 0x7fn, 0x80n, 0xffn, 0x100n, 2n ** 63n, 2n ** 159n, 2n ** 160n - 1n])(
    'carries the nonce %d',
    (nonce) => {
      const hex = nonce.toString(16).toUpperCase();
      const text = read(timestampRequest('ab'.repeat(64), nonce));
      expect(text).toContain(`Nonce: 0x${hex.length % 2 === 0 ? hex : `0${hex}`}\n`);
    },
  );
});

describe('what cannot be asked', () => {
  test.each([
    ['SHA-1', 'ab'.repeat(20), 1n],
    ['no hex', 'zz'.repeat(32), 1n],
    ['upper case', 'AB'.repeat(32), 1n],
    ['nothing', '', 1n],
    ['without a nonce', 'ab'.repeat(32), 0n],
    ['with a nonce below zero', 'ab'.repeat(32), -1n],
    ['with a nonce of 161 bits', 'ab'.repeat(32), 2n ** 160n],
  ])('%s', (_name, digest, nonce) => {
    expect(() => timestampRequest(digest, nonce)).toThrow(TypeError);
  });
});

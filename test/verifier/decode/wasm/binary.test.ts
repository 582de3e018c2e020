import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { COMPILER, SHA256, WASM } from '../../../../src/verifier/decode/wasm/binary.ts';

const folder = resolve(import.meta.dirname, '../../../../src/verifier/decode/wasm');

test('the binary is the one that is named', () => {
  expect(createHash('sha256').update(Buffer.from(WASM, 'base64')).digest('hex')).toBe(SHA256);
});

test('the binary imports nothing', () => {
  expect(WebAssembly.Module.imports(new WebAssembly.Module(Buffer.from(WASM, 'base64')))).toEqual([]);
});

test('the compiler makes it: the same version the very same bytes, another one the same exports', async () => {
  const made = join(mkdtempSync(join(tmpdir(), 'kernel-')), 'binary.ts');
  execFileSync(join(folder, 'build.sh'), [made]);
  const theirs: { COMPILER: string; WASM: string } = await import(made);
  const exportsOf = (wasm: string) => WebAssembly.Module.exports(new WebAssembly.Module(Buffer.from(wasm, 'base64')));
  if (theirs.COMPILER === COMPILER)
    expect(readFileSync(made, 'utf8')).toBe(readFileSync(join(folder, 'binary.ts'), 'utf8'));
  else expect(exportsOf(theirs.WASM)).toEqual(exportsOf(WASM));
});

declare const WebAssembly: {
  Module: { new (bytes: Uint8Array): object; imports(module: object): unknown[]; exports(module: object): unknown[] };
};

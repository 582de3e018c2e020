import { expect, test } from 'vitest';
import { Expectation } from '../../../src/exporter/client/expectation.ts';

const cases = [
  ['json', '\ufeff \n{"a": 1}', null],
  ['json', '[', null],
  ['json', '\ufeff<html>', 'it is not JSON'],
  ['json', 'ï', 'it is not JSON'],
  ['pdf', `${'x'.repeat(1000)}%PDF-1.7`, null],
  ['pdf', 'x'.repeat(2000), 'it is not a PDF'],
] as const;

test.each(cases)('%s byte by byte: %j', (accepts, text, expected) => {
  const expectation = new Expectation(accepts, 'application/octet-stream');
  let why: string | null = null;
  for (const byte of Buffer.from(text)) why ??= expectation.see(Uint8Array.of(byte));
  expect(why ?? expectation.end()).toBe(expected);
});

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from '../../src/core/shell.ts';

const WORDS = [
  'payments',
  'prod/eu-1.a',
  'two words',
  "it's",
  '$(touch x)',
  '`id`',
  'a;b',
  '*',
  '~',
  '',
  'a\nb',
  '日本',
];

test.each(WORDS)('a shell reads one word as it was: %j', (text) => {
  expect(execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
});

test.each(['payments', 'prod/eu-1.a', 's3://bucket/prefix'])('what needs no quotes has none: %s', (text) => {
  expect(shellWord(text)).toBe(text);
});

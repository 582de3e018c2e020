import { describe, expect, it, test } from 'vitest';
import { EvidenceError } from '../../src/core/errors.ts';
import { cutText, isWellFormedJson, visibleJson, visibleText } from '../../src/core/foreign-text.ts';

const LONE = '\ud83d';

describe('visibleText', () => {
  it.each([
    ['', ''],
    ['plain, and an emoji 😀', 'plain, and an emoji 😀'],
    [`delete ${LONE}`, 'delete \\u{d83d}'],
    [`\udc00${LONE}`, '\\u{dc00}\\u{d83d}'],
    [`${LONE}😀`, '\\u{d83d}😀'],
  ])('%j', (text, shown) => expect(visibleText(text)).toBe(shown));
});

describe('cutText', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc…'],
    ['ab😀', 3, 'ab😀'],
    ['ab😀d', 3, 'ab😀…'],
    [`ab${LONE}d`, 3, 'ab\\u{d83d}…'],
    [`${'😀'.repeat(500)}x`, 500, `${'😀'.repeat(500)}…`],
  ])('%j to %d code points', (text, length, shown) => {
    expect(cutText(text, length)).toBe(shown);
    expect(cutText(text, length).isWellFormed()).toBe(true);
  });
});

test('JSON is made visible in names and values, at any depth', () => {
  const value = { [`n${LONE}`]: [1, null, true, { text: LONE }] };
  expect(isWellFormedJson(value)).toBe(false);
  expect(visibleJson<unknown>(value)).toEqual({ 'n\\u{d83d}': [1, null, true, { text: '\\u{d83d}' }] });
  expect(isWellFormedJson(visibleJson<unknown>(value))).toBe(true);
});

test('an error shows what a service made it say', () => {
  const error = new EvidenceError('service', `no ${LONE}`, { nextStep: `Ask ${LONE}.` });
  expect([error.message, error.nextStep]).toEqual(['no \\u{d83d}', 'Ask \\u{d83d}.']);
});

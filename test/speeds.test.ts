import { readdirSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { longTests, mockingTests, partOf, unitTests } from './speeds.ts';

const short = [...unitTests(), ...mockingTests()];
const long = longTests(short);

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

test('each test file is short, long, or of the soak', () => {
  const all = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('worked-example/overlay/'))
    .map((file) => `test/${file}`);
  const soak = all.filter((file) => file.startsWith('test/soak/'));
  expect([...short, ...long, ...soak].toSorted()).toEqual(all.toSorted());
});

test('the parts of the long tests together are all of them, each once', () => {
  const parts = Array.from({ length: 8 }, (_, at) => {
    vi.stubEnv('PART', `${at + 1}`);
    return partOf(long).files;
  });
  expect(parts.flat().toSorted()).toEqual(long);
  const sizes = parts.map(({ length }) => length);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
});

test('a day has the part after that of the day before, and CI has all', () => {
  vi.stubEnv('PART', undefined);
  vi.stubEnv('CI', undefined);
  vi.useFakeTimers({ now: Date.parse('2026-10-01T12:00:00Z') });
  const days = Array.from({ length: 8 }, () => {
    const { part } = partOf(long);
    vi.advanceTimersByTime(24 * 60 * 60 * 1000);
    return part;
  });
  expect(days.toSorted()).toEqual(Array.from({ length: 8 }, (_, at) => `${at + 1} of 8`));
  vi.stubEnv('CI', 'true');
  expect(partOf(long)).toEqual({ part: 'all', files: long });
});

test.each(['0', '9', '', '1.5', 'some'])('refuses the part "%s"', (part) => {
  vi.stubEnv('PART', part);
  expect(() => partOf(long)).toThrow('must be "all" or a number from 1 to 8');
});

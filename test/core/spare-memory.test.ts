import { expect, test } from 'vitest';
import { SpareMemory } from '../../src/core/spare-memory.ts';

test('memory that was given back is used again, where it is enough', () => {
  const spare = new SpareMemory(2);
  const first = spare.take(100_000);
  expect(first.length).toBeGreaterThanOrEqual(100_000);
  // The first memory is in use.
  expect(spare.take(100_000)).not.toBe(first);
  spare.giveBack(first);
  expect(spare.take(first.length + 1).length).toBeGreaterThan(first.length);
  spare.giveBack(first);
  expect(spare.take(1)).toBe(first);
});

test('no more is kept than was asked for', () => {
  const spare = new SpareMemory(1);
  const [kept, dropped] = [spare.take(1), spare.take(1)];
  spare.giveBack(kept);
  spare.giveBack(dropped);
  expect([spare.take(1), spare.take(1)]).toEqual([kept, expect.anything()]);
  expect(spare.take(1)).not.toBe(dropped);
});

import { expect, test } from 'vitest';
import { Numbers } from '../../../src/core/typesetting/structure.ts';

test('thousands of numbers stay where they were put, and can be changed there', () => {
  const numbers = new Numbers();
  const places = Array.from({ length: 5000 }, (_, index) => numbers.push(index - 1));
  expect(places).toEqual(places.map((_, index) => index));
  numbers.set(4321, -7);
  expect(places.map((place) => numbers.at(place))).toEqual(places.map((_, index) => (index === 4321 ? -7 : index - 1)));
});

import { expect, test } from 'vitest';
import { difference } from '../../../../src/exporter/cli/commands/probe.ts';

test.each([
  ['a\nb\nc', 'a\nb\nc', ''],
  ['a\nb\nc', 'a\nx\nc', '- b\n+ x'],
  ['a\nb', 'a\nb\nc', '+ c'],
  ['a\nb\nc\nd', 'b\nd', '- a\n- c'],
  ['', 'a', '- \n+ a'],
])('%j to %j', (before, after, expected) => {
  expect(difference(before, after)).toBe(expected);
});

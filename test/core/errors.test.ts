import { expect, test } from 'vitest';
import { EvidenceError, insteadOfSameCommand } from '../../src/core/errors.ts';

test.each([
  ['Run the same command again to resume.', 'Do this instead.'],
  ['Run the same command again; if it stays, ask the operator.', 'Do this instead; if it stays, ask the operator.'],
  ['Check the disk, then run the same command again: what is archived stays.', 'Check the disk, then do this instead.'],
  ['Give the key another right.', 'Give the key another right.'],
])('%s → %s', (nextStep, said) => {
  expect(insteadOfSameCommand(nextStep, 'do this instead')).toBe(said);
});

test('a message is cut: text of others in it may have megabytes', () => {
  const { message } = new EvidenceError('service', '😀'.repeat(2 ** 20));
  expect([...message]).toHaveLength(4001);
  expect(message.endsWith('😀…')).toBe(true);
});

import { expect, test } from 'vitest';
import { EvidenceError, sayNextStep } from '../../src/core/errors.ts';

test.each([
  [{}, 'Run the same command again.', 'Do this instead.'],
  [{ same: ' to resume' }, 'Run the same command again to resume.', 'Do this instead.'],
  [{ after: '; ask why' }, 'Run the same command again; ask why.', 'Do this instead; ask why.'],
  [
    { before: 'Check the disk, then', same: ': what is archived stays' },
    'Check the disk, then run the same command again: what is archived stays.',
    'Check the disk, then do this instead.',
  ],
  ['Give the key another right.', 'Give the key another right.', 'Give the key another right.'],
])('%j is said for the command that failed, and for another one', (step, same, other) => {
  const error = new EvidenceError('service', 'it failed', { nextStep: step });
  expect([error.nextStep, error.step, sayNextStep(step, 'do this instead')]).toEqual([same, step, other]);
});

test('a message is cut: text of others in it may have megabytes', () => {
  const { message } = new EvidenceError('service', '😀'.repeat(2 ** 20));
  expect([...message]).toHaveLength(4001);
  expect(message.endsWith('😀…')).toBe(true);
});

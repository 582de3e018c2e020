import { expect, it } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { storeFailure } from '../../../src/exporter/archive/directory/failure.ts';

it.each([
  ['ENOSPC', /^Free space/],
  ['EDQUOT', /quota/],
  ['EACCES', /permission/],
  ['EROFS', /mount/],
  ['EIO', /Check that disk/],
])('%s becomes an archive error with a next step', (code, nextStep) => {
  const cause = Object.assign(new Error(`${code}: refused`), { code });
  const failure = storeFailure(cause, 'store a/b');
  expect(failure).toMatchObject({ code: 'archive', nextStep: expect.stringMatching(nextStep), cause });
  expect(failure.message).toBe(`could not store a/b: ${code}: refused`);
});

it('keeps an error that says already what happened', () => {
  const error = new EvidenceError('conflict', 'taken');
  expect(storeFailure(error, 'store a/b')).toBe(error);
});

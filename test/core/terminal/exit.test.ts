import { describe, expect, test } from 'vitest';
import { type ErrorCode, EvidenceError } from '../../../src/core/errors.ts';
import { EXIT_CODES, exitCodeOfError } from '../../../src/core/terminal/exit.ts';
import { EXIT_CODE_OF } from '../../../src/verifier/records/outcome.ts';

const BY_CODE: Record<ErrorCode, number> = {
  usage: 2,
  config: 2,
  contract: 2,
  'not-found': 2,
  unreachable: 3,
  service: 3,
  unreadable: 3,
  conflict: 3,
  chain: 1,
  archive: 3,
  'work-directory': 3,
  refused: 5,
  'store-refused': 5,
  output: 3,
  interrupted: 130,
};

describe('the exit code', () => {
  test.each(Object.entries(BY_CODE))('of the error "%s" is %i', (code, exitCode) => {
    expect(exitCodeOfError(new EvidenceError(code as ErrorCode, 'x'))).toBe(exitCode);
  });

  test.each([new TypeError('x'), new Error('x'), 'x', undefined, null, { code: 'usage' }])(
    'of the defect %s is 70',
    (thrown) => {
      expect(exitCodeOfError(thrown)).toBe(70);
    },
  );

  test('of anything that ends a command is in the table that is printed, once', () => {
    const printed = EXIT_CODES.map(([code]) => code);
    expect(printed).toEqual([...new Set(printed)].toSorted((a, b) => a - b));
    const used = [...Object.values(BY_CODE), ...Object.values(EXIT_CODE_OF), 70, 129, 143];
    expect([...new Set(used)].toSorted((a, b) => a - b)).toEqual(printed);
  });
});

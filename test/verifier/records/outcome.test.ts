import { expect, test } from 'vitest';
import { EXIT_CODE_OF, type VerifiedOutcome, worstOf } from '../../../src/verifier/records/outcome.ts';

test.each<[VerifiedOutcome[], VerifiedOutcome, number]>([
  [[], 'empty', 4],
  [['empty', 'verified'], 'verified', 0],
  [['verified', 'collected'], 'collected', 0],
  [['empty', 'collected'], 'collected', 0],
  [['collected', 'incomplete'], 'incomplete', 3],
  [['collected', 'recorded'], 'incomplete', 3],
  [['recorded', 'empty'], 'recorded', 4],
  [['recorded', 'incomplete', 'refuted', 'collected'], 'refuted', 1],
])('%j come to %s, with exit code %d', (outcomes, worst, code) => {
  expect([worstOf(outcomes), EXIT_CODE_OF[worstOf(outcomes)]]).toEqual([worst, code]);
});

import { expect, test } from 'vitest';
import { nextStepOf, withNextStep } from '../../src/exporter/next-steps.ts';
import { FINDING_CODES } from '../../src/verifier/model/stream-finding.ts';
import { SUPPLEMENT_FINDING_CODES } from '../../src/verifier/model/supplement-finding.ts';

test.each([...FINDING_CODES, ...SUPPLEMENT_FINDING_CODES])('%s says what to do', (code) => {
  expect(nextStepOf({ code, stream_id: 's' })).toMatch(/^\p{Lu}.*\.$/u);
});

test('the advice on a stream that vanished is a command for that stream', () => {
  const finding = { code: 'continuity/stream-vanished', stream_id: "bob's" };
  expect(nextStepOf(finding)).toContain("evidence ledger accept 'bob'\\''s' --reason ");
});

test('what is known beside the code outweighs it', () => {
  const advice = { code: 'compare_with_run', run_id: 'r' } as const;
  expect(nextStepOf({ code: 'order/gap', from: 3, to: 4, advice })).toMatch(
    /^Run r recorded that it exported entries 3 to 4: look into its bundle/,
  );
});

test('a document says it of each finding and of each open run, and of nothing else', () => {
  const finding = { code: 'object/missing', severity: 'error', message: 'gone' };
  const [begun, abandoned] = ['begun', 'abandoned'].map((state) => ({ run_id: 'r', state, message: 'it ended' }));
  const document = { findings: [finding], open_runs: [begun, abandoned], error: { code: 'config', message: 'wrong' } };
  expect(JSON.parse(JSON.stringify(document, withNextStep))).toEqual({
    findings: [{ ...finding, next_step: expect.stringMatching(/^Keep the output/) }],
    open_runs: [
      { ...begun, next_step: expect.stringMatching(/evidence runs abandon r --reason WHY\.$/) },
      { ...abandoned, next_step: null },
    ],
    error: document.error,
  });
});

import { expect, test } from 'vitest';
import { whyOpen } from '../../../../src/exporter/cli/output/run-report.ts';
import { type ClaimName, type OpenCode, unproved } from '../../../../src/verifier/claims/claim.ts';
import { runRecord, runStream } from '../../../support/records.ts';

const KEYS = /verify\.seal_keys.*--seal-key/;
const ROOTS = /verify\.timestamp_roots.*--timestamp-roots/;
const AGAIN = /Run the same command again/;
const SAME = /Running the same command again does not help; add --finalize-partial/;

function open(name: ClaimName, code: OpenCode, reason: string, partial = false) {
  const { claims, ...stream } = runStream('s', { status: 'incomplete', partial });
  return { ...stream, claims: { ...claims, [name]: unproved(code, reason) } };
}

test.each([
  ['seals without a key', open('seal', 'key-not-given', 'no seal key was given'), [KEYS, SAME], [AGAIN, ROOTS]],
  [
    'seals of a key that was not given',
    open('seal', 'key-not-given', 'made with a key not given'),
    [KEYS, SAME],
    [AGAIN],
  ],
  [
    'digests of a key that was not given',
    open('content', 'key-not-given', 'made with a key not given'),
    [KEYS, SAME],
    [AGAIN],
  ],
  ['digests that nobody can make', open('content', 'no-recipe', 'no recipe is known'), [SAME], [AGAIN, KEYS]],
  ['tokens without roots', open('anchor', 'no-root', 'no authority is trusted here'), [ROOTS, SAME], [AGAIN, KEYS]],
  ['no token yet', open('anchor', 'no-token', 'no checkpoint has a token yet'), [AGAIN], [SAME, ROOTS]],
  ['a listing that could not be read', open('completeness', 'listing-failed', 'it broke off'), [AGAIN], [SAME]],
  ['a listing that is switched off', open('completeness', 'listing-off', 'it is off'), [SAME], [AGAIN]],
  ['a list that the contract lacks', open('completeness', 'listing-not-in-contract', 'no list'), [SAME], [AGAIN]],
  ['a form that did not arrive', open('seal', 'key-not-given', 'no seal key was given', true), [KEYS, AGAIN], [SAME]],
])(
  'a run is open for %s: what is missing is named, and the same command only where it can help',
  (_words, stream, said, unsaid) => {
    const { scope, ...record } = runRecord('r', [stream]);
    const words = whyOpen({
      ...record,
      scope: { ...scope, required_claims: ['order', 'content', 'seal', 'anchor', 'completeness'] },
    });
    expect(words).toMatch(/^The run is not finalized\. Required but not proved: \w+ \(1 stream\)\./);
    for (const pattern of said) expect(words).toMatch(pattern);
    for (const pattern of unsaid) expect(words).not.toMatch(pattern);
  },
);

test('nothing is said of a claim that nobody required', () => {
  expect(whyOpen(runRecord('r', [open('seal', 'key-not-given', 'no seal key was given', true)]))).toBe(
    'The run is not finalized.\nRun the same command again to get what is missing, or add --finalize-partial to finalize the run without it.',
  );
});

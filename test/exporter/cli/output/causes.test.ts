import { expect, test } from 'vitest';
import { Printer, styled } from '../../../../src/core/terminal/printer.ts';
import { type Cause, printCauses } from '../../../../src/exporter/cli/output/causes.ts';

function said(causes: readonly Cause[], limit?: number): string[] {
  let text = '';
  printCauses(causes, new Printer({ json: false, quiet: false, stdout: { write: (more) => (text += more) } }), limit);
  return text.trimEnd().split('\n');
}

const failed = (streamId: string, message: string, nextStep = 'Go on.'): Cause => {
  return { what: styled('not exported', 'red'), streamId, code: 'unreachable', message, nextStep };
};
const gone = (streamId: string) =>
  failed(streamId, `GET http://x/streams/${encodeURIComponent(streamId)}/verify failed: ECONNREFUSED`);

test('a cause that many streams have stands once, with the first of them', () => {
  const names = ['a', 'b/c', 'failed', 'd', 'e', 'f', 'g'];
  expect(said([...names.map(gone), { ...failed('z', 'no room'), code: 'archive' }])).toEqual([
    'not exported 7 streams, as a: GET http://x/streams/a/verify failed: ECONNREFUSED',
    '  a, b/c, failed, d, e and 2 others; --json lists all',
    '  Go on.',
    'not exported z: no room',
    '  Go on.',
  ]);
});

test('failures that differ in their code or in what to do are not one', () => {
  const other = { ...failed('b', 'no room'), code: 'archive' as const };
  expect(said([failed('a', 'no room'), other, failed('c', 'no room', 'Stop.')])).toHaveLength(6);
});

test('causes without a code are one if they say the same', () => {
  const missing = ['1', '1', '2'].map((message, index) => ({ ...failed(`s${index}`, message), code: null }));
  expect(said(missing)).toEqual([
    'not exported 2 streams: 1',
    '  s0, s1',
    '  Go on.',
    'not exported s2: 2',
    '  Go on.',
  ]);
});

test('a stream alone is named with all that was said', () => {
  expect(said([gone('a')])[0]).toBe('not exported a: GET http://x/streams/a/verify failed: ECONNREFUSED');
});

test('what is more than can be shown is counted', () => {
  const causes = ['1', '2', '2', '3'].map((message, index) => ({
    ...failed('abcd'.charAt(index), message, ''),
    code: null,
  }));
  expect(said(causes, 1)).toEqual(['not exported a: 1', '… and 3 more; --json lists all.']);
});

import { expect, test } from 'vitest';
import { Printer, styled } from '../../../../src/core/terminal/printer.ts';
import { type Cause, printCauses } from '../../../../src/exporter/cli/output/causes.ts';

function said(causes: readonly Cause[], limit?: number): string[] {
  let text = '';
  printCauses(causes, new Printer({ json: false, quiet: false, stdout: { write: (more) => (text += more) } }), limit);
  return text.trimEnd().split('\n');
}

const failed = (streamId: string, message: string, nextStep = 'Go on.'): Cause => {
  return { what: styled('not exported', 'red'), streamId, message, nextStep };
};
const gone = (streamId: string) =>
  failed(streamId, `GET http://x/streams/${encodeURIComponent(streamId)}/verify failed: ECONNREFUSED`);

test('a cause that many streams have stands once, with the first of them', () => {
  const names = ['a', 'b/c', 'failed', 'd', 'e', 'f', 'g'];
  expect(said([...names.map(gone), failed('z', 'no room')])).toEqual([
    'not exported 7 streams: GET http://x/streams/…/verify failed: ECONNREFUSED',
    '  a, b/c, failed, d, e and 2 others; --json names them all',
    '  Go on.',
    'not exported z: no room',
    '  Go on.',
  ]);
});

test('causes that differ in what they say or in what to do are not one', () => {
  expect(said([failed('a', 'no room'), failed('b', 'no rooms'), failed('c', 'no room', 'Stop.')])).toHaveLength(6);
});

test('a stream alone is named with all that was said', () => {
  expect(said([gone('a')])[0]).toBe('not exported a: GET http://x/streams/a/verify failed: ECONNREFUSED');
});

test('what is more than can be shown is counted', () => {
  expect(said([failed('a', '1', ''), failed('b', '2', ''), failed('c', '2', ''), failed('d', '3', '')], 1)).toEqual([
    'not exported a: 1',
    '… and 3 more; --json has them.',
  ]);
});

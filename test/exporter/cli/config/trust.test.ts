import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSealKeys } from '../../../../src/exporter/cli/config/trust.ts';
import { thrownBy } from '../../../support/json.ts';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));

function read(content: string | Uint8Array): Buffer | undefined {
  const path = join(folder, 'key');
  writeFileSync(path, content);
  return readSealKeys(new Map([['k1', { given: 'key', path }]]))
    .get('k1')
    ?.export();
}

const KEYS: [string, string | Uint8Array, string][] = [
  ['text', 'secret', '736563726574'],
  ['text with a line feed', 'secret\n', '736563726574'],
  ['text with a carriage return and a line feed', 'secret\r\n', '736563726574'],
  ['text with two line feeds', 's\n\n', '730a'],
  ['text with spaces', ' s ', '207320'],
  ['text beyond ASCII', 'ü', 'c3bc'],
  ['bytes that are no text', Uint8Array.of(0xff, 0x00, 0x80), 'ff0080'],
  ['text that begins otherwise', 'hexagon:00', '68657861676f6e3a3030'],
  ['hex', 'hex:00ff10', '00ff10'],
  ['hex in capitals', 'hex:00FF\n', '00ff'],
  ['base64', 'base64:AP8Q', '00ff10'],
  ['base64 with padding', 'base64:AP8=\r\n', '00ff'],
  ['base64 without its padding', 'base64:AP8', '00ff'],
];

describe('a seal key from its file', () => {
  test.each(KEYS)('%s', (_words, content, hex) => {
    expect(read(content)?.toString('hex')).toBe(hex);
  });
});

const BAD: [string, string, RegExp][] = [
  ['nothing', '', /contains no key/],
  ['a line feed', '\n', /contains no key/],
  ['hex of nothing', 'hex:', /contains no key/],
  ['base64 of nothing', 'base64:\n', /contains no key/],
  ['hex that is not', 'hex:00fg11', /not valid hex or base64/],
  ['half a byte', 'hex:00f', /not valid hex or base64/],
  ['hex with spaces', 'hex:00 ff', /not valid hex or base64/],
  ['hex in two lines', 'hex:00\nff\n', /not valid hex or base64/],
  ['base64 for URLs', 'base64:_-8=', /not valid hex or base64/],
  ['base64 with a stray sign', 'base64:AP*8Q', /not valid hex or base64/],
  ['base64 with bits left over', 'base64:AP9', /not valid hex or base64/],
];

describe('a key that cannot be read for certain is refused: it would refute seals that are genuine', () => {
  test.each(BAD)('%s', (_words, content, message) => {
    const error = thrownBy(() => read(content));
    expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(message) });
    expect(error).toMatchObject({ message: expect.stringContaining(`"k1", ${join(folder, 'key')}`) });
    const digits = content.split(':')[1]?.trim() ?? '';
    if (digits !== '') expect((error as Error).message).not.toContain(digits);
  });

  test('a file that is not there', () => {
    const error = thrownBy(() => readSealKeys(new Map([['k1', { given: 'absent', path: join(folder, 'absent') }]])));
    expect(error).toMatchObject({
      code: 'config',
      message: `the file of the seal key "k1", ${join(folder, 'absent')}, does not exist`,
    });
  });
});

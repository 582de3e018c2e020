import type { Random } from './dialects.ts';

const TOKENS = [
  ...'"\\,:{}[] \t\n\r\b\f0123456789-+.eEunbfrt/hs\'\0\x1f\x7f\x80\xbf\xc0\xc2\xe0\xed\xf0\xf4\xf5\xff',
  ...['true', 'false', 'null', '[]', '{}', '[[]]', '{"a":{}}', '[ ]', '{"b":1,"a":2}', '{"a":1,"a":1}', '""', ',""'],
  ...['\\"', '\\\\', '\\/', '\\b', '\\n', '\\u0000', '\\u0008', '\\u001f', '\\u001F', '\\u0041', '\\ud800', '\\u000b'],
  ...['1.5', '1.50', '-0', '0.1', '1e3', '1E400', '0.000001', '0.0000001', '9007199254740991', '9007199254740992'],
  ...['123456789012345.6', '12345678901234.5', '0.30000000000000004', '5e-324', '01', '+1', '.5', '1.', '-', 'NaN'],
  ...[
    '\xc3\xbc',
    '\xe2\x82\xac',
    '\xf0\x9f\x98\x80',
    '\xed\xa0\x80',
    '\xc0\x80',
    '\xe2\x80\xa8',
    '\xef\xbb\xbf',
    '\xef\xbf\xbf',
  ],
  ...['"hash"', '"seal":"x"', '"sequence":2', '"__proto__":1', '"constructor":{}', '"":0', '"metadata":', 'prev_hash'],
  ...['2026-02-30', '2026-13-01', 'T24:00', ':60.', '1969', '9999', '0000', 'k1', 'k2', '/*x*/', '//x\n', '<!--'],
  ...[
    '\\u00e9',
    '\\u00E9',
    '\\ud83d\\ude00',
    '\\ud83d',
    '\\ude00',
    '\\u007f',
    '\\u000a',
    ', ',
    ': ',
    '|',
    '||',
    ';',
    '=',
    '==',
    'AAAA',
  ],
  ...[
    '"GENESIS"',
    '"first"',
    '"-"',
    '"prev":',
    '"link":',
    '"00"',
    '1790000000',
    '1e5',
    '-7',
    '2026-10-01T00:00:05',
    '.123456',
    '"at":1',
  ],
];

/** Changes bytes, tokens or values of a text in latin1. */
export function mutate(text: string, below: Random): string {
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const at = below(text.length + 1);
  switch (below(6)) {
    case 0:
      return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + below(4));
    case 2:
      return text.slice(0, at) + pick(TOKENS) + text.slice(at);
    case 3:
      return text.slice(0, at) + pick(TOKENS) + text.slice(at + 1 + below(4));
    case 4: {
      // Replace a whole value.
      const start = text.indexOf(':', at) + 1;
      const end = start + (text.slice(start).match(/[,}\]]/)?.index ?? 0);
      return text.slice(0, start) + pick(TOKENS) + text.slice(end);
    }
    default: {
      const [from, length] = [below(text.length), below(24)];
      return text.slice(0, at) + text.slice(from, from + length) + text.slice(at);
    }
  }
}

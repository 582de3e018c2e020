import { expect, test } from 'vitest';
import {
  chainIn,
  type Dialect,
  dialectNamed,
  digestTextOf,
  draftOf,
  readOne,
  stamp,
  usualStyle,
} from '../../../support/dialects.ts';
import { DialectDecoder } from './dialect-decoder.ts';

const inLatin1 = (text: string) => Buffer.from(text).toString('latin1');

/** True if the decoder takes the second entry of a chain after this change, with any digest that could be correct. */
function isRegular(dialect: Dialect, change: (draft: string) => string): boolean {
  const before = chainIn(dialect, 1, () => 1);
  const decoder = new DialectDecoder(dialect);
  const draft = draftOf(dialect, 1, digestTextOf(dialect, before[0] ?? ''), usualStyle(dialect), () => 1);
  const changed = change(draft);
  expect(changed).not.toBe(draft);
  const slow = readOne(dialect, stamp(dialect, changed));
  const digests = [decoder.ownDigest(before, changed), slow?.content.state === 'computed' ? slow.content.digest : null];
  const verdicts = digests.map((digest) => {
    if (digest === null) return false;
    const taken = decoder.taken([...before, stamp(dialect, changed, digest)]);
    expect(decoder.disagreement(taken)).toBe(null);
    return taken.rows.length === 2;
  });
  return verdicts.includes(true);
}

const withMetadata = (text: string) => (draft: string) =>
  draft.replace(/"metadata": ?\{.*?\{\}\}/, `"metadata":${inLatin1(text)}`);

const [ASCII, UTF8, UNSORTED, AS_SENT, JCS] = ['fastapi.yaml', 'account.yaml', 'previous after', 'as sent', 'rfc8785'];

/** Values in unusual forms, with the dialects whose decoder takes them. */
const VALUES: [value: string, dialects: (string | undefined)[]][] = [
  ['"é€😀"', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['"\u007f"', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['"\\u007f"', [ASCII, AS_SENT]],
  ['"\\u00e9"', [ASCII, AS_SENT]],
  ['"\\u00E9"', [AS_SENT]],
  ['"\\ud83d\\ude00 \\u20ac"', [ASCII, AS_SENT]],
  ['"\\ud83d\\ue000"', []],
  ['"\\ud83d"', []],
  ['"\\ud83dé"', []],
  ['"\\ude00"', []],
  ['"\\ude00\\ude01"', []],
  ['"\\ude00\\ud83d"', []],
  ['"\\u0041"', [AS_SENT]],
  ['"\\u000a"', [AS_SENT]],
  ['"\\u001f"', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['"\\/"', [AS_SENT]],
  ['"\\b\\f\\n\\r\\t\\"\\\\"', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['"\\x"', []],
  ['"\\u00g0"', []],
  ['"\\u00"', []],
  ['"a\nb"', []],
  ['1.0', [ASCII, UTF8, UNSORTED, AS_SENT]],
  ['-0', [ASCII, UTF8, UNSORTED, AS_SENT]],
  ['1e-07', [ASCII, UTF8, UNSORTED, AS_SENT]],
  ['1E+400', [ASCII, UTF8, UNSORTED, AS_SENT]],
  ['9007199254740993', [ASCII, UTF8, UNSORTED, AS_SENT]],
  ['01', []],
  ['1.', []],
  ['.5', []],
  ['1e', []],
  ['1e+', []],
  ['-', []],
  ['+1', []],
  ['{"b":1,"a":2}', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['{ "b" : 1 ,\n"a" :2 }', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['[ 1,2,\t3 , {"a": [ ]} ]', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['[1,\t2,\n3]', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['{"a":\t1,\n"b":2}', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['{"é":1,"\u007f":{"x":"é"}}', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['{"é": 1, "ü": 2}', [ASCII, UTF8, UNSORTED, AS_SENT, JCS]],
  ['{"\u{1f600}":1,"\uff46":2}', [ASCII, UTF8, UNSORTED, AS_SENT]],
  ['{"\uff46":2,"\u{1f600}":1}', [ASCII, UTF8, UNSORTED, AS_SENT]],
  ['{"\\u00e9":1}', []],
  ['{"b":1,"a":2,"b":3}', []],
  ['[{"b":1,"b":1}]', []],
  ['[1 2]', []],
];

test.each(VALUES)('the value %s is taken by %j', (value, dialects) => {
  const takers = [ASCII, UTF8, UNSORTED, AS_SENT, JCS].filter((name) =>
    isRegular(dialectNamed(name ?? ''), withMetadata(value)),
  );
  expect(takers).toEqual(dialects);
});

const LONG = '\u007f'.repeat(400_000);

const CHANGES: [dialect: string, words: string, change: (draft: string) => string, expected: boolean][] = [
  ['fastapi.yaml', 'a text that grows beyond the arena', withMetadata(JSON.stringify(LONG)), false],
  ['account.yaml', 'a text of that size that does not grow', withMetadata(JSON.stringify(LONG)), true],
  ['camel service', 'a separator in a field', (draft) => draft.replace('"action":"w-1"', '"action":"a|b"'), true],
  ['join and json', 'a number where types are open', (draft) => draft.replace('"actor": "w-1"', '"actor": 7'), true],
  ['join', 'a number in a field', (draft) => draft.replace('"note":"w-1"', '"note":7'), true],
  ['roles in a member', 'a member beside the roles', (draft) => draft.replace('"seq":2', '"seq":2,"x":1'), true],
  ['results-next.yaml', 'a member beside the roles', (draft) => draft.replace('"before":', '"x":1,"before":'), true],
  ['results-next.yaml', 'roles twice', (draft) => draft.replace('"before":', '"before":"","before":'), false],
  ['absent', 'null for what is absent', (draft) => draft.replace('"prev":', '"prev":null,"prev":'), false],
  ['numbers as text', 'leading zeros', (draft) => draft.replace('"seq":"2"', '"seq":"002"'), true],
  ['numbers as text', 'fifteen digits', (draft) => draft.replace('"seq":"2"', '"seq":"000000000000002"'), true],
  ['numbers as text', 'sixteen digits', (draft) => draft.replace('"seq":"2"', '"seq":"0000000000000002"'), false],
  ['numbers as text', 'a number', (draft) => draft.replace('"seq":"2"', '"seq":2'), true],
  ['as sent', 'an integer that is none', (draft) => draft.replace('"seq":2', '"seq":2.0'), false],
  ['as sent', 'a number as text', (draft) => draft.replace('"seq":2', '"seq":"2"'), false],
  ['as sent', 'a stream id with escapes', (draft) => draft.replace('payments/prod', 'p\\u0061yments\\/prod'), true],
  ['as sent', 'another one', (draft) => draft.replace('payments/prod', 'p\\u0061yments\\/prox'), false],
  ['seconds', 'an earlier time', (draft) => draft.replace(/"at": ?\d+/, '"at":1700000000'), true],
  ['seconds', 'the last second of 9999', (draft) => draft.replace(/"at": ?\d+/, '"at":253402300799'), true],
  ['seconds', 'the one after it', (draft) => draft.replace(/"at": ?\d+/, '"at":253402300800'), false],
  ['seconds', 'a fraction', (draft) => draft.replace(/("at": ?\d+)/, '$1.5'), false],
  ['milliseconds', 'text', (draft) => draft.replace(/"at": ?(\d+)/, '"at":"$1"'), false],
  ['no zone', 'microseconds', (draft) => draft.replace(/("at": ?"[^"]*:\d\d)[^"]*"/, '$1.999999"'), true],
  ['no zone', 'an offset', (draft) => draft.replace(/("at": ?"[^"]*:\d\d)[^"]*"/, '$1+02:00"'), false],
  ['link-header.yaml', 'a digest without its prefix', (draft) => draft.replace('sha384:', 'sha385:'), false],
];

test.each(CHANGES)('%s: %s', (name, _words, change, expected) => {
  expect(isRegular(dialectNamed(name), change)).toBe(expected);
});

test.each([
  ['sha-256, base64, no padding', true],
  ['sha-512, base64url, padded', true],
  ['prefix', false],
])('%s: the padding of digests may be there or not', (name, hasPadding) => {
  const dialect = dialectNamed(name);
  const [entry = ''] = chainIn(dialect, 1, () => 1);
  const text = digestTextOf(dialect, entry);
  const decoder = new DialectDecoder(dialect);
  const bare = text.replace(/=+$/, '');
  const padded = bare + '='.repeat(hasPadding ? (3 - (Buffer.from(bare, 'base64').length % 3)) % 3 : 1);
  const takes = (digest: string) => decoder.taken([entry.replace(text, digest)]).rows.length === 1;
  expect([takes(bare), takes(padded)]).toEqual([true, hasPadding]);
  expect([takes(`${bare}A`), takes(`${bare.slice(0, -1)}=`), takes(`${bare}===`)]).toEqual([false, false, false]);
});

/** True if the changed second entry leaves no more members unhashed than the original. */
function opensNoMore(dialect: Dialect, change: (draft: string) => string): boolean {
  const before = chainIn(dialect, 1, () => 1);
  const decoder = new DialectDecoder(dialect);
  const draft = draftOf(dialect, 1, digestTextOf(dialect, before[0] ?? ''), usualStyle(dialect), () => 1);
  const [plain, changed] = [draft, change(draft)].map((each) => {
    const taken = decoder.taken([...before, stamp(dialect, each)]);
    expect(decoder.disagreement(taken)).toBe(null);
    expect(taken.rows).toHaveLength(2);
    return taken.unhashed;
  });
  return changed?.length === plain?.length;
}

test.each<[string, (draft: string) => string, boolean]>([
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"w-2"'), true],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"a|b"'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":5'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":null'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":""'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"-1.5e+7"'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"1.5e"'), true],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"007"'), true],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"true"'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"false"'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"{"'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"\\u005bx"'), false],
  ['camel service', (draft) => draft.replace('"action":"w-1"', '"action":"nulls"'), true],
  ['camel service', (draft) => draft.replace('{', '{"other":1,'), false],
  ['join', (draft) => draft.replace('"action":"w-1"', '"action":"None"'), false],
  ['json of a member', (draft) => draft.replace(/"metadata": \{.*?\{\}\}/, '"metadata": -1'), false],
  ['json of a member', (draft) => draft.replace(/"metadata": \{.*?\{\}\}/, '"metadata": "1"'), true],
  ['results-next.yaml', (draft) => draft.replace('{', '{"other":1,'), true],
])('%s %s leaves no more open: %s', (name, change, expected) => {
  expect(opensNoMore(dialectNamed(name), change)).toBe(expected);
});

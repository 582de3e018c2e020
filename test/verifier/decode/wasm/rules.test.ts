import { describe, expect, test } from 'vitest';
import { chainOf, entryAfter, GENESIS, type SentEntry } from '../../../support/chain.ts';
import { disagreement, HASH, judge, ownDigest, SEAL, slowDigest, stamp } from './default-chain.ts';

const [first, second] = chainOf(2) as [SentEntry, SentEntry];
const before = [inLatin1(JSON.stringify(first))];

function inLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Returns the chain's second entry with members replaced by texts in latin1, and with further members. */
function entryWith(texts: Record<string, string>, extra = ''): string {
  const members = Object.entries({ ...second, hash: HASH, seal: SEAL }).map(
    ([name, value]) => `${JSON.stringify(name)}:${texts[name] ?? inLatin1(JSON.stringify(value))}`,
  );
  return `{${members.join(',')}${extra}}`;
}

/**
 * True if the fast decoder takes the entry after the preceding ones. The entry states the reference's digest, then the
 * module's own, so that only the tested rule can make the decoder refuse.
 */
function isTaken(entry: string, preceding: readonly string[] = before): boolean {
  const digests = [slowDigest(entry), ownDigest(preceding, entry)].filter((digest) => digest !== null);
  const verdicts = digests.map((digest) => {
    const outcome = judge(`${[...preceding, stamp(entry, digest)].join(',')}]`);
    expect(disagreement(outcome)).toBe(null);
    expect(outcome.rows.length).toBeGreaterThanOrEqual(preceding.length);
    return outcome.rows.length > preceding.length;
  });
  return verdicts.includes(true);
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const VALUES: Record<'taken' | 'left', [string, string][]> = {
  taken: [
    ['the largest integer', '9007199254740991'],
    ['the smallest integer', '-9007199254740991'],
    ['zero', '0'],
    ['a fraction', '1.5'],
    ['a fraction below one', '-0.5'],
    ['fifteen significant digits', '12345678901234.5'],
    ['fifteen significant digits below one', '0.00000123456789012345'.slice(0, 22)],
    ['the smallest that has no exponent', '0.000001'],
    ['literals', '[true,false,null]'],
    ['the short escapes', '"\\"\\\\\\b\\f\\n\\r\\t"'],
    ['other control characters', '"\\u0000\\u0007\\u000b\\u000e\\u001f"'],
    ['DEL', '"\x7f"'],
    ['two bytes of UTF-8', '"\xc2\x80\xdf\xbf"'],
    ['three bytes of UTF-8', '"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"'],
    ['four bytes of UTF-8', '"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"'],
    ['U+2028', '"\xe2\x80\xa8"'],
    ['a byte order mark in a string', '"\xef\xbb\xbf"'],
    ['white space everywhere', ' \t\r\n[ \n1 , {  "b" : 2 ,\t"a" : [ ] , "c": { } } ] '],
    ['members in another order', '{"b":1,"aa":{"y":[],"x":{}},"a":"é€"}'.replace('é€', '\xc3\xa9\xe2\x82\xac')],
    ['names that are prefixes', '{"abcdefghijklmnopq":1,"abcdefghijklmnop":2,"abcdefgh":3,"abcdefg":4,"":5}'],
    ['names that differ late', '{"abcdefghijklmnopqrs2":1,"abcdefghijklmnopqrs1":2}'],
    ['names up to U+D7FF', '{"\xed\x9f\xbf":1,"z":{},"\xc3\xbc":2,"\xe2\x82\xac":3,"\xc3\xa4b":4,"\xc3\xa4":5}'],
    ['names that differ in their seventeenth byte', '{"abcdefghijklmnop2":1,"abcdefghijklmnop1":2}'],
    ['white space further in only', '{"x":{ "a":[1]},"y":[[2 ]],"z":{"b":{"c":3,"a":4}}}'],
    ['names of Object.prototype', '{"toString":1,"__proto__":2,"constructor":3}'],
    ['the same name in two objects', '{"a":{"a":1},"b":{"a":1}}'],
    ['omitted names further in', '{"hash":"x","seal":"y"}'],
    ['256 levels around and within', nested(253)],
    [
      '64 members out of order',
      JSON.stringify(Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`n${99 - i}`, i]))),
    ],
    [
      'many members in order',
      JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`n${i + 100}`, i]))),
    ],
    ['many items', JSON.stringify(Array.from({ length: 20_000 }, (_, i) => i))],
  ],
  left: [
    ['an integer that a double may not hold', '9007199254740992'],
    ['a negative one', '-9007199254740992'],
    ['a longer one', '10000000000000000'],
    ['minus zero', '-0'],
    ['minus zero with a fraction', '-0.0'],
    ['a trailing zero', '1.50'],
    ['a fraction of zeros', '1.0'],
    ['sixteen significant digits', '123456789012345.6'],
    ['sixteen significant digits below one', '0.0000012345678901234561'.slice(0, 24)],
    ['what has an exponent', '0.0000001'],
    ['an exponent', '1e3'],
    ['an exponent after a fraction', '1.5E-3'],
    ['a leading zero', '01'],
    ['a plus', '+1'],
    ['no integer', '.5'],
    ['no fraction', '1.'],
    ['a sign only', '-'],
    ['NaN', 'NaN'],
    ['a truncated literal', 'tru'],
    ['another literal', 'nul1'],
    ['an escaped slash', '"\\/"'],
    ['an escaped letter', '"\\u0041"'],
    ['an escape in upper case', '"\\u001F"'],
    ['an escape that has a short form', '"\\u0008"'],
    ['another one', '"\\u000a"'],
    ['a lone surrogate', '"\\ud800"'],
    ['a pair of surrogates', '"\\ud83d\\ude00"'],
    ['an unknown escape', '"\\x"'],
    ['a short escape', '"\\u00"'],
    ...Array.from({ length: 32 }, (_, code): [string, string] => [
      `control character ${code}`,
      `"${String.fromCharCode(code)}"`,
    ]),
    ['NUL outside strings', '\x001'],
    ['a lone continuation byte', '"\x80"'],
    ['an overlong form of two bytes', '"\xc0\x80"'],
    ['another one', '"\xc1\xbf"'],
    ['an overlong form of three bytes', '"\xe0\x9f\xbf"'],
    ['an overlong form of four bytes', '"\xf0\x8f\xbf\xbf"'],
    ['a surrogate in UTF-8', '"\xed\xa0\x80"'],
    ['the last surrogate in UTF-8', '"\xed\xbf\xbf"'],
    ['above U+10FFFF', '"\xf4\x90\x80\x80"'],
    ['a lead that there is not', '"\xf5\x80\x80\x80"'],
    ['FE and FF', '"\xfe\xff"'],
    ['a character cut off after one byte', '"\xe2"'],
    ['a character cut off after two bytes', '"\xe2\x82"'],
    ['a character cut off after three bytes', '"\xf0\x9f\x98"'],
    ['a byte order mark outside strings', '\xef\xbb\xbf1'],
    ['a no-break space', '\xc2\xa01'],
    ['a form feed', '\f1'],
    ['a vertical tab', '\v1'],
    ['a vertical tab further in', '[1,\v2]'],
    ['a name twice', '{"a":1,"a":1}'],
    ['a name twice, not side by side', '{"a":1,"b":2,"a":3}'],
    ['a name twice further in', '[{"x":{"a":1,"b":{},"a":1}}]'],
    ['an escape in a name', '{"a\\n":1}'],
    ['a name that an escape makes the same', '{"a":1,"\\u0061":2}'],
    ['a name with U+E000', '{"\xee\x80\x80":1}'],
    ['a name above U+FFFF', '{"\xf0\x90\x80\x80":1}'],
    ['a name with a surrogate in UTF-8', '{"\xed\xa0\x80":1}'],
    ['a name with a lone continuation byte', '{"a\x80":1}'],
    ['a name that is not ASCII, twice', '{"\xc3\xbc":1,"\xc3\xbc":2}'],
    ['names that UTF-16 sorts otherwise', '{"\xef\xbf\xbf":1,"\xf0\x90\x80\x80":2}'],
    ['a control character in a name', '{"\x01":1}'],
    ['257 levels', nested(254)],
    [
      '65 members out of order',
      JSON.stringify(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`n${99 - i}`, i]))),
    ],
    ['a trailing comma in an array', '[1,]'],
    ['a trailing comma in an object', '{"a":1,}'],
    ['a leading comma', '[,1]'],
    ['two commas', '[1,,2]'],
    ['no comma', '[1 2]'],
    ['no colon', '{"a" 1}'],
    ['two colons', '{"a"::1}'],
    ['no value', '{"a":}'],
    ['no name', '{:1}'],
    ['a name without quotes', '{a:1}'],
    ['single quotes', "'a'"],
    ['a comment', '/*a*/1'],
    ['the wrong bracket', '[1}'],
    ['the other wrong bracket', '{"a":1]'],
    ['no end of a string', '"a'],
  ],
};

describe.each(Object.entries(VALUES))('%s', (verdict, values) => {
  test.each(values)('%s', (_name, text) => {
    expect(isTaken(entryWith({ metadata: text }))).toBe(verdict === 'taken');
  });
});

const at = (timestamp: string) => entryAfter(first, { timestamp });
const TIMES: [string, boolean][] = [
  ['2026-10-01T00:00:01.000Z', true],
  ['2026-10-01T00:00:00.999Z', true],
  ['0000-12-31T23:59:59.999Z', false],
  ['0001-01-01T00:00:00.000Z', true],
  ['2026-12-31T23:59:59.999Z', true],
  ['9999-12-31T23:59:59.999Z', true],
  ['2028-02-29T00:00:00.000Z', true],
  ['2027-02-29T00:00:00.000Z', false],
  ['2100-02-29T00:00:00.000Z', false],
  ['2400-02-29T00:00:00.000Z', true],
  ['2026-11-31T00:00:00.000Z', false],
  ['2026-11-00T00:00:00.000Z', false],
  ['2027-00-01T00:00:00.000Z', false],
  ['2027-13-01T00:00:00.000Z', false],
  ['2027-01-01T24:00:00.000Z', false],
  ['2027-01-01T23:60:00.000Z', false],
  ['2027-01-01T23:59:60.000Z', false],
  ['2027-01-01T00:00:00Z', true],
  ['2027-01-01T00:00:00', true],
  ['2027-01-01T00:00:00.', false],
  ['2027-01-01T00:00:00.Z', false],
  ['2027-01-01T00:00:00.1', true],
  ['2027-01-01T00:00:00.123456789Z', true],
  ['2027-01-01T00:00:00.1234567890Z', false],
  ['2026-10-01T00:00:00.9999999Z', true],
  ['2027-01-01T00:00:00ZZ', false],
  ['2027-01-01T00:00', false],
  ['2027-01-01T00:00:00.0000Z', true],
  ['2027-01-01 00:00:00.000Z', false],
  ['2027-01-01T00:00:00.000z', false],
  ['2027-01-01T00:00:00,000Z', false],
  ['2027-01-01T00:00:0:.000Z', false],
  ['2027-01-01T00:00:00.000+00:00', false],
  ['', false],
];

test.each(TIMES)('the timestamp %j: %s', (timestamp, expected) => {
  expect(isTaken(inLatin1(JSON.stringify({ ...at(timestamp), hash: HASH, seal: SEAL })))).toBe(expected);
});

const zeros = JSON.stringify(GENESIS);
const MEMBERS: [string, Record<string, string>][] = [
  ['the sequence is text', { sequence: '"2"' }],
  ['the sequence has a fraction', { sequence: '2.5' }],
  ['the sequence is an array', { sequence: '[2]' }],
  ['the predecessor is no digest', { prev_hash: JSON.stringify('x'.repeat(64)) }],
  ['the predecessor is in upper case', { prev_hash: JSON.stringify('A'.repeat(64)) }],
  ['the predecessor is null', { prev_hash: 'null' }],
  ['the stream is another', { stream_id: '"payments/prox"' }],
  ['the stream is longer', { stream_id: '"payments/prod2"' }],
  ['the stream is written otherwise', { stream_id: '"payments\\/prod"' }],
  ['the stream is no text', { stream_id: '7' }],
  ['the entry id is no id', { entry_id: '7.5' }],
  ['the timestamp is a number', { timestamp: '1790000000' }],
  ['the digest is too short', { hash: '"00"' }],
  ['the digest is no text', { hash: '[]' }],
  ['the seal is no text', { seal: 'null' }],
  ['the key is another', { seal_key_id: '"k2"' }],
  ['the key is no text', { seal_key_id: '1' }],
];

test.each(MEMBERS)('left: %s', (_name, texts) => {
  expect(isTaken(entryWith(texts))).toBe(false);
});

test.each(['sequence', 'prev_hash', 'hash', 'stream_id', 'timestamp', 'entry_id', 'seal', 'seal_key_id'])(
  'left: without %s',
  (name) => {
    const without = entryWith({}).replace(new RegExp(`,"${name}":[^,}]*|(?<=\\{)"${name}":[^,}]*,`), '');
    expect(Object.keys(JSON.parse(without))).toEqual(Object.keys(second).filter((member) => member !== name));
    expect(isTaken(without)).toBe(false);
    expect(isTaken('{}')).toBe(false);
  },
);

test.each(['sequence', 'hash', 'seal', 'stream_id', 'metadata'])('left: %s twice', (name) => {
  const member = entryWith({}).match(new RegExp(`"${name}":(?:"[^"]*"|\\d+|\\{[^}]*\\}[^}]*\\})`))?.[0];
  expect(member).toBeDefined();
  expect(isTaken(entryWith({}, `,${member}`))).toBe(false);
});

test('digests in upper case are left', () => {
  const entry = entryWith({});
  const digest = slowDigest(entry) ?? '';
  expect(judge(`${before[0]},${stamp(entry, digest)}]`).rows).toHaveLength(2);
  expect(judge(`${before[0]},${stamp(entry, digest).replace(digest, digest.toUpperCase())}]`).rows).toHaveLength(1);
});

test.each<[string, Record<string, string>]>([
  ['the number is skipped', { sequence: '3' }],
  ['the number is repeated', { sequence: '1' }],
  ['the number is the largest', { sequence: '9007199254740991' }],
  ['the predecessor is another', { prev_hash: JSON.stringify('1'.repeat(64)) }],
  ['a later one claims to be the first', { prev_hash: zeros }],
  ['the time goes back', { timestamp: '"2020-01-01T00:00:00.000Z"' }],
  ['the digest is another', { hash: JSON.stringify('0'.repeat(64)) }],
  ['the seal is another', { seal: JSON.stringify('0'.repeat(64)) }],
])('taken, for it is not for a decoder to judge: %s', (_name, texts) => {
  expect(isTaken(entryWith(texts))).toBe(true);
});

test('what comes between entries is read as strictly as they are', () => {
  const next = stamp(entryWith({}), slowDigest(entryWith({})) ?? '');
  const verdict = (array: string) => {
    const { rows, stop } = judge(array);
    return [rows.length, stop];
  };
  expect(verdict(` ${before[0]} ,\r\n\t${next} ] `)).toEqual([2, 'closed']);
  expect(verdict(']')).toEqual([0, 'closed']);
  expect(verdict(`${before[0]},${next}`)).toEqual([2, 'needs-more']);
  expect(verdict(`${before[0]},]`)).toEqual([1, 'unsure']);
  expect(verdict(`${before[0]},,${next}]`)).toEqual([1, 'unsure']);
  expect(verdict(`,${before[0]}]`)).toEqual([0, 'unsure']);
  expect(verdict(`${before[0]}${next}]`)).toEqual([1, 'unsure']);
  expect(verdict(`${before[0]}x`)).toEqual([1, 'unsure']);
  expect(verdict(`${before[0]},[]`)).toEqual([1, 'unsure']);
  expect(verdict(`${before[0]}\xef\xbb\xbf,${next}]`)).toEqual([1, 'unsure']);
});

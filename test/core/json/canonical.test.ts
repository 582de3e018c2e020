import reference from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalize, type Json, MAX_DEPTH } from '../../../src/core/json/canonical.ts';
import { nested, thrownBy } from '../../support/json.ts';

/**
 * Names whose order differs between UTF-16 code units and code points, names with a meaning in JavaScript, and numeric
 * names.
 */
const names = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u{1f600}', '\ufb33', '\ue000', '\u{10000}', '\uffff', '', '__proto__', 'constructor', '10', '9'),
);
const numbers = fc.oneof(
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.constantFrom(
    0,
    -0,
    1e21,
    1e20,
    5e-324,
    1e-6,
    1e-7,
    1.7976931348623157e308,
    2 ** 53,
    -(2 ** 53),
    333333333.3333333,
  ),
);
const documents = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    numbers,
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .array(fc.tuple(names, tie('value')), { maxLength: 8 })
      .map((members) => Object.fromEntries(members) as { [name: string]: Json }),
  ),
})).value;

test('the reference writes the same for every document', () => {
  fc.assert(
    fc.property(documents, (value) => {
      expect(canonicalize(value)).toBe(reference(value));
    }),
    { numRuns: 1000 },
  );
});

test('what is omitted is omitted at the top level only', () => {
  fc.assert(
    fc.property(documents, documents, (hash, inner) => {
      const value = { hash, z: { hash, inner }, a: [{ hash }] };
      const { hash: _hash, ...rest } = value;
      expect(canonicalize(value, ['hash', 'seal'])).toBe(reference(rest));
    }),
  );
});

/** RFC 8785 appendix B: bits of a double, and its text. */
const APPENDIX_B: [string, string][] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

test.each(APPENDIX_B)('RFC 8785 appendix B: the double %s', (bits, text) => {
  expect(canonicalize(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text);
});

test('RFC 8785 section 3.2.2: the sample document', () => {
  const sent =
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
    '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
  const canonical =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
    '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';
  expect(canonicalize(JSON.parse(sent))).toBe(canonical);
});

test('RFC 8785 section 3.2.3: members are sorted by UTF-16 code units', () => {
  const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 };
  expect(canonicalize(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"\u{1f600}":5,"\ufb33":3}');
});

describe('refused', () => {
  const cases: [string, Json][] = [
    ['NaN', Number.NaN],
    ['infinity', [Number.POSITIVE_INFINITY]],
    ['minus infinity', { a: Number.NEGATIVE_INFINITY }],
    ['a lone high surrogate', '\ud800'],
    ['a lone low surrogate in a name', { 'a\udc00': 1 }],
    ['surrogates in the wrong order', ['\ude00\ud83d']],
    ['nesting beyond the limit', nested(MAX_DEPTH + 1)],
    ['nesting far beyond the limit', nested(100_000)],
  ];
  test.each(cases)('%s', (_words, value) => {
    expect(thrownBy(() => canonicalize(value))).toMatchObject({ code: 'unreadable' });
  });
});

test('nesting up to the limit is written', () => {
  expect(canonicalize(nested(MAX_DEPTH))).toBe('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH));
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareCodePoints, type PythonJsonOptions, pythonJson } from '../../../src/core/json/python-json.ts';
import { readWritten } from '../../../src/core/json/source-text.ts';

interface Dumped {
  /** Text with Python's default formatting, as a Python service sends it. */
  sent: string;
  indented: string;
  /** Texts by separators, then ascii, then sortKeys. */
  rows: string[];
}

const OPTIONS: PythonJsonOptions[] = (['spaced', 'compact'] as const).flatMap((separators) =>
  [false, true].flatMap((ascii) => [false, true].map((sortKeys) => ({ separators, ascii, sortKeys }))),
);

/** Formats all texts in one process. */
function dump(texts: readonly string[]): Dumped[] {
  const program = join(import.meta.dirname, 'python-json.py');
  const env = { ...process.env, PYTHONIOENCODING: 'utf-8:surrogatepass' };
  const output = execFileSync('python3', [program], {
    input: texts.join('\n'),
    encoding: 'utf8',
    env,
    maxBuffer: 2 ** 28,
  });
  return output
    .trimEnd()
    .split('\n')
    .map((line): Dumped => JSON.parse(line));
}

function write(json: string): string[] {
  const written = readWritten(json);
  return OPTIONS.map((options) => pythonJson(json, written, options));
}

const CASES: [string, string][] = [
  ['nothing in it', '{}'],
  ['an empty list', '[]'],
  ['empty containers in each other', '{"a":{},"b":[],"c":[{}],"d":[[]],"":""}'],
  ['beyond U+FFFF', '{"k":"😀 𝄞 \\ud83d\\ude00"}'],
  ['names beyond U+FFFF sort after U+FFFD', '{"😀":1,"\\ufffd":2,"z":3,"\\uff5e":4,"Z":5,"é":6}'],
  ['names of which one begins as the other', '{"ab":1,"a":2,"":3,"abc":4,"😀a":5,"😀":6}'],
  ['sorted at every depth', '{"b":{"d":[{"z":1,"a":2}],"c":3},"a":4}'],
  ['DEL and what is around it', '"~\\u007f\\u0080\\u009f\\u00a0"'],
  ['control characters', JSON.stringify(Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(code)).join(''))],
  ['line separators, which ECMAScript once escaped', '"\\u2028\\u2029"'],
  ['quote, backslash, slash', '"\\" \\\\ \\/ / \'"'],
  ['integers beyond a double', '[9007199254740993,-123456789012345678901234567890,0,-0]'],
  ['floats', '[1.0,-0.0,1e16,1e-7,1.5e300,0.1,123456789.123456789,5e-324,1e22]'],
  ['literals', '[true,false,null]'],
  ['names as integers, in no order', '{"10":1,"9":2,"1":3,"-1":4}'],
  ['a name that every object has', '{"__proto__":{"a":1},"constructor":2,"toString":3}'],
];

test('cases are what python3 writes', () => {
  const dumped = dump(CASES.map(([, text]) => text));
  expect(dumped).toHaveLength(CASES.length);
  for (const [index, { sent, indented, rows }] of dumped.entries()) {
    expect(write(sent), CASES[index]?.[0]).toEqual(rows);
    expect(write(indented), CASES[index]?.[0]).toEqual(rows);
  }
});

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed()),
  fc.constantFrom('\u007f', '"', '\\', '\u0000', '😀', '\ufffd', '\uffff', '\u{10ffff}', '\ud7ff', '\ue000'),
);
const numbers = fc.oneof(
  fc.bigInt().map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((number) => (Object.is(number, -0) ? '-0.0' : String(number))),
  fc.integer().map(String),
);
/** JSON texts instead of values, because JavaScript values would lose big integers. */
const texts = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('null', 'true', 'false'),
    numbers,
    words.map((word) => JSON.stringify(word)),
    fc.array(tie('text'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
    // Duplicate names are ambiguous and never hashed, so they are left out.
    fc
      .uniqueArray(fc.tuple(words, tie('text')), { maxLength: 6, selector: ([name]) => name })
      .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`),
  ),
})).text;

test('property: any JSON is what python3 writes, whichever way it was called', () => {
  const sampled = fc.sample(texts, { numRuns: 2000, seed: 20_261_101 });
  const dumped = dump(sampled);
  expect(dumped).toHaveLength(2000);
  for (const { sent, indented, rows } of dumped) {
    expect(write(sent)).toEqual(rows);
    expect(write(indented)).toEqual(rows);
  }
});

test('numbers stay as they are written, whoever wrote them', () => {
  const json = '[1.50, 1E5, -0, 9007199254740993, 1e400]';
  expect(pythonJson(json, readWritten(json), { separators: 'compact', ascii: true, sortKeys: true })).toBe(
    '[1.50,1E5,-0,9007199254740993,1e400]',
  );
});

test('property: code points are compared as bytes of UTF-8 are', () => {
  fc.assert(
    fc.property(words, words, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2000 },
  );
});

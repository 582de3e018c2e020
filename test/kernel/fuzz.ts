import { chainOf, entryAfter } from '../support/chain.ts';
import { disagreement, HASH, judge, ownDigest, SEAL, slowDigest, stamp } from './default-chain.ts';

/**
 * Mutates an entry, byte by byte and token by token, states of it the digest that the kernel computes (or the slow path,
 * where the kernel does not get that far) and compares the verdicts, for as long as is asked.
 *
 *     node test/kernel/fuzz.ts [SECONDS [SEED]]
 */
const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);

let state = BigInt(seed) * 2n + 1n;
function below(limit: number): number {
  state = (state * 6364136223846793005n + 1442695040888963407n) & (2n ** 64n - 1n);
  return Number((state >> 33n) % BigInt(limit));
}
function pick<T>(items: readonly T[]): T {
  return items[below(items.length)] as T;
}

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
];

const [first, second] = chainOf(2).map(({ hash, seal, ...content }) => ({ ...content, hash, seal }));
if (first === undefined || second === undefined) throw new Error('a chain of two has two entries');
const before = [Buffer.from(JSON.stringify(first)).toString('latin1')];
const rich = { z: [1, 2.5, -3, { y: [], x: {} }], a: 'é€😀\u0001\b"\\', list: [true, false, null, ''], n: 0.000001 };
const bases = [second, entryAfter(first, { metadata: rich }), Object.fromEntries(Object.entries(second).toReversed())]
  .flatMap((entry) => [JSON.stringify({ ...entry, hash: HASH, seal: SEAL }), pretty(entry)])
  .map((text) => Buffer.from(text).toString('latin1'));

function pretty(entry: object): string {
  return JSON.stringify({ ...entry, hash: HASH, seal: SEAL }, null, 2);
}

function mutate(text: string): string {
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
      // A value, as a whole.
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

function mutated(): string {
  let text = mutate(pick(bases));
  while (below(3) === 0) text = mutate(text);
  return text;
}

const counts = { mutations: 0, regular: 0, readable: 0, split: 0 };
const end = performance.now() + seconds * 1000;
while (performance.now() < end) {
  counts.mutations++;
  const entry = mutated();
  const slow = slowDigest(entry);
  if (slow !== null) counts.readable++;
  for (const digest of new Set([ownDigest(before, entry), slow])) {
    if (digest === null) continue;
    const array = `${[...before, stamp(entry, digest)].join(',')}]`;
    const outcome = judge(array);
    if (outcome.regular.length > 1) counts.regular++;
    fail(disagreement(outcome), array);
    if (below(32) !== 0) continue;
    counts.split++;
    const parts = judge(array, 1 + below(array.length));
    fail(JSON.stringify(parts) === JSON.stringify(outcome) ? null : `in blocks: ${JSON.stringify(parts)}`, array);
  }
}
process.stdout.write(`seed ${seed}, ${seconds} s: ${JSON.stringify(counts)}\n`);

function fail(reason: string | null, array: string): void {
  if (reason === null) return;
  process.stderr.write(`seed ${seed}: ${reason}\n${JSON.stringify(array)} (latin1)\n`);
  process.exit(1);
}

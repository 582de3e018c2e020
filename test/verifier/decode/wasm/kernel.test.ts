import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import reference from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SpareMemory } from '../../../../src/core/spare-memory.ts';
import { ChainKernel, NO_TIME, type Tip } from '../../../../src/verifier/decode/wasm/kernel.ts';
import { chainOf, entryAfter, GENESIS, SEAL_KEY, type SentEntry, sealed } from '../../../support/chain.ts';
import { disagreement, judge, OPTIONS, type Outcome, runKernel } from './default-chain.ts';

const toBytes = (entries: readonly SentEntry[], space?: number) =>
  Buffer.from(JSON.stringify(entries, null, space).slice(1));
const shuffled = (entry: SentEntry, by: number) => {
  const members = Object.entries(entry);
  return Object.fromEntries(members.map((_, i) => members[(i * 5 + by) % members.length] ?? ['', 0])) as SentEntry;
};

const chain = chainOf(300).map((entry, index) => shuffled(entry, index % 7 === 0 ? 3 : 0));

test('a chain is regular, whatever the order of its members and the size of the blocks', () => {
  const whole = runKernel(new ChainKernel(OPTIONS), toBytes(chain));
  expect(whole.regular.map(({ digest }) => digest)).toEqual(chain.map(({ hash }) => hash));
  expect(whole).toMatchObject({ stop: 'closed', tip: { sequence: 300, digest: chain.at(-1)?.hash } });
  expect(disagreement(whole)).toBe(null);
  for (const size of [1021, 4096, 65_536])
    expect(runKernel(new ChainKernel(OPTIONS), toBytes(chain), size)).toEqual(whole);
});

test('an array is read the same, cut at every offset, and byte by byte', () => {
  for (const bytes of [toBytes(chain.slice(0, 3)), toBytes(chain.slice(0, 3), 1)]) {
    const whole = runKernel(new ChainKernel(OPTIONS), bytes);
    expect(whole).toMatchObject({ stop: 'closed', regular: { length: 3 } });
    const kernel = new ChainKernel(OPTIONS);
    for (let size = 1; size <= bytes.length; size++) expect(runKernel(kernel, bytes, size)).toEqual(whole);
  }
});

const vectors = join(import.meta.dirname, '../../../vectors/chain');
const expected: {
  seal_keys: Record<string, string>;
  cases: Record<string, { findings: { code: string; sequence?: number; from?: number }[] }>;
} = JSON.parse(readFileSync(join(vectors, 'expected.json'), 'utf8'));
const STARTS_LATER = /^continuity\/unknown-start$/;

describe.each(Object.entries(expected.cases))('vector %s', (name, { findings }) => {
  const text = readFileSync(join(vectors, `${name}.json`), 'latin1');
  const array = Buffer.from(text.slice(text.indexOf('[', text.indexOf('"entries"')) + 1), 'latin1');
  const streamId = text.match(/"stream_id":\s*"([^"]*)"/)?.[1] ?? '';
  const keys = new Map(Object.entries(expected.seal_keys).map(([id, key]) => [id, Buffer.from(key)]));
  const kernel = new ChainKernel({ ...OPTIONS, streamId, keys });
  const whole = runKernel(kernel, array);

  test('is regular up to its first fault', () => {
    const places = findings.filter(({ code }) => /^(?:order|content|seal)\//.test(code));
    // What is there twice is at fault the second time.
    const faults = places.map(
      ({ code, sequence, from }) => (sequence ?? from ?? 0) - (/duplicate$|fork$/.test(code) ? 0 : 1),
    );
    const entries = text.match(/"hash"/g)?.length ?? 0;
    if (findings.some(({ code }) => STARTS_LATER.test(code))) faults.push(0);
    const regular = name === 'cut-off' ? whole.regular.length : Math.min(entries, ...faults);
    const stop = name === 'cut-off' ? 'needs-more' : faults.length > 0 ? 'irregular' : 'closed';
    expect([whole.regular.length, whole.stop]).toEqual([regular, stop]);
    if (name === 'cut-off') expect(Math.abs(entries - regular)).toBeLessThanOrEqual(1);
  });

  test('is read the same in blocks of any size', () => {
    for (const size of [1, 2, 3, 61, 509, 1021, 65_536]) expect(runKernel(kernel, array, size)).toEqual(whole);
  });
});

/** As a caller of the kernel: what is not regular is skipped, and the tip set anew behind it. */
function walkAround(kernel: ChainKernel, entries: readonly SentEntry[]): [number, number] {
  let [regular, slow] = [0, 0];
  const bytes = toBytes(entries);
  kernel.setGenesis(1);
  kernel.input.set(bytes);
  let run = kernel.run(0, bytes.length, 'first');
  for (;;) {
    regular += run.regular;
    if (run.stop !== 'irregular') return [regular, slow];
    const irregular = entries[regular + slow];
    if (irregular === undefined) return [regular, slow];
    slow++;
    const start = run.offset + Buffer.byteLength(JSON.stringify(irregular));
    kernel.setTip({ sequence: irregular.sequence, digest: irregular.hash, time: Date.parse(irregular.timestamp) });
    run = kernel.run(start, bytes.length, 'after');
  }
}

test('behind an entry that is not regular, it goes on', () => {
  let last: SentEntry | null = null;
  const entries = Array.from({ length: 500 }, (_, index) => {
    last = entryAfter(
      last,
      index % 50 === 7 ? { metadata: 1e-7 } : index % 50 === 8 ? { metadata: { '\u{10000}': 1 } } : {},
    );
    return last;
  });
  expect(walkAround(new ChainKernel(OPTIONS), entries)).toEqual([480, 20]);
});

test('a wrong digest or seal far behind the first ends what is regular at its own place', () => {
  for (const place of [0, 1, 126, 127, 128, 299])
    for (const fault of [{ actor: 'mallory' }, { seal: '0'.repeat(64) }]) {
      const outcome = runKernel(
        new ChainKernel(OPTIONS),
        toBytes(chain.with(place, { ...chain[place], ...fault } as SentEntry)),
      );
      expect(outcome).toMatchObject({ stop: 'irregular', regular: { length: place } });
      expect(outcome.tip?.sequence).toBe(place);
    }
});

test('without a tip nothing is regular', () => {
  const kernel = new ChainKernel(OPTIONS);
  const bytes = toBytes(chain.slice(0, 2));
  kernel.input.set(bytes);
  expect(kernel.run(0, bytes.length, 'first')).toMatchObject({
    stop: 'irregular',
    regular: 0,
    offset: 0,
    place: 'first',
  });
  kernel.setTip({ sequence: 0, digest: 'no digest', time: Date.UTC(2026) });
  expect(kernel.run(0, bytes.length, 'first').regular).toBe(0);
  kernel.setTip({ sequence: 0, digest: '0'.repeat(64), time: Number.NaN });
  expect(kernel.run(0, bytes.length, 'first').regular).toBe(0);
  kernel.setGenesis(1);
  expect(kernel.run(0, bytes.length, 'first').regular).toBe(2);
});

describe('a tip that is assumed', () => {
  const kernel = new ChainKernel(OPTIONS);
  const run = (entries: readonly SentEntry[]) => {
    const bytes = toBytes(entries);
    kernel.input.set(bytes);
    return kernel.run(0, bytes.length, 'next').regular;
  };

  test('is what the first entry says that it follows', () => {
    kernel.assumeTip();
    expect(run(chain.slice(100, 110))).toBe(10);
    expect(kernel.assumed).toEqual({ sequence: 100, digest: chain[99]?.hash, time: NO_TIME });
    expect(kernel.tip).toMatchObject({ sequence: 110, digest: chain[109]?.hash });
  });

  test('is assumed once: what follows must follow it, in the same run and in the next', () => {
    kernel.assumeTip();
    expect(run([...chain.slice(5, 8), ...chain.slice(9, 12)])).toBe(3);
    expect(run(chain.slice(9, 12))).toBe(0);
    expect(run(chain.slice(8, 12))).toBe(4);
    expect(kernel.assumed.sequence).toBe(5);
  });

  test('is assumed anew until an entry is regular', () => {
    kernel.assumeTip();
    expect(run([{ ...chain[5], actor: 'mallory' } as SentEntry])).toBe(0);
    expect(run([{ ...chain[5], prev_hash: 'short' } as SentEntry])).toBe(0);
    expect(run(chain.slice(7, 9))).toBe(2);
    expect(kernel.assumed).toMatchObject({ sequence: 7, digest: chain[6]?.hash });
  });

  test('gives way to one that is set', () => {
    kernel.assumeTip();
    kernel.setTip({ sequence: 5, digest: chain[4]?.hash ?? '', time: NO_TIME });
    expect([run(chain.slice(6, 8)), run(chain.slice(5, 8))]).toEqual([0, 3]);
    kernel.assumeTip();
    kernel.setTip(null);
    expect(run(chain.slice(5, 8))).toBe(0);
  });
});

test('zeros are named by the first entry, whatever stands before it, and by no other', () => {
  const kernel = new ChainKernel(OPTIONS);
  const takes = (tip: Tip, entry: Partial<SentEntry>) => {
    const bytes = toBytes([entryAfter(null, entry)]);
    kernel.setTip(tip);
    kernel.input.set(bytes);
    return kernel.run(0, bytes.length, 'first').regular === 1;
  };
  const [zeros, ones] = [GENESIS, '1'.repeat(64)];
  const time = Date.UTC(2026);
  expect(takes({ sequence: 0, digest: zeros, time }, { sequence: 1, prev_hash: zeros })).toBe(true);
  expect(takes({ sequence: 7, digest: ones, time }, { sequence: 8, prev_hash: ones })).toBe(true);
  expect(takes({ sequence: 7, digest: zeros, time }, { sequence: 8, prev_hash: zeros })).toBe(false);
  expect(takes({ sequence: 0, digest: ones, time }, { sequence: 1, prev_hash: ones })).toBe(false);
  const last = Number.MAX_SAFE_INTEGER;
  expect(takes({ sequence: last - 1, digest: ones, time }, { sequence: last, prev_hash: ones })).toBe(true);
  expect(takes({ sequence: last, digest: ones, time }, { sequence: last + 1, prev_hash: ones })).toBe(false);
});

test('entries may lack what no role is given to', () => {
  const roles = { ...OPTIONS.roles, streamId: null, timestamp: null, entryId: null };
  const bare = (sequence: number, prev_hash: string) => {
    const content = { sequence, prev_hash };
    return {
      ...content,
      hash: createHash('sha256')
        .update(reference(content) ?? '')
        .digest('hex'),
    };
  };
  const zero = bare(0, GENESIS);
  const bytes = Buffer.from(JSON.stringify([zero, bare(1, zero.hash), bare(3, zero.hash)]).slice(1));
  const kernel = new ChainKernel({ ...OPTIONS, roles, seal: null, without: ['hash'], firstSequence: 0 });
  kernel.setGenesis(0);
  kernel.input.set(bytes);
  expect(kernel.run(0, bytes.length, 'first')).toMatchObject({ stop: 'irregular', regular: 2 });
  expect([kernel.records.sequence(1), kernel.records.timestamp(1)]).toEqual([1, '']);
  expect(kernel.tip).toEqual({ sequence: 1, digest: bare(1, zero.hash).hash, time: Number.NaN });
});

test('a copy of the entries of a run says the same after the next run, until it is released', () => {
  const kernel = new ChainKernel(OPTIONS);
  const bytes = toBytes(chain);
  kernel.setGenesis(1);
  kernel.input.set(bytes, 7);
  const run = kernel.run(7, 20_000, 'first');
  const { records } = kernel;
  const read = (from: typeof records) =>
    Array.from({ length: from.count }, (_, index) => ({
      sequence: from.sequence(index),
      time: from.time(index),
      digest: from.digest(index),
      timestamp: from.timestamp(index),
      text: Buffer.from(from.bytes.subarray(from.start(index), from.end(index))).toString(),
    }));
  const before = read(records);
  expect(before.length).toBeGreaterThan(10);
  const memory = new SpareMemory(1);
  // Whatever was in it.
  memory.giveBack(new Uint8Array(200_000).fill(0xff));
  const copy = records.copy(memory);
  expect(copy.bytes.length).toBe(records.end(records.count - 1) - records.start(0));
  kernel.input.set(bytes.subarray(run.offset - 7));
  kernel.run(0, 20_000, run.place);
  expect(read(copy)).toEqual(before);
  expect(read(copy.copy(new SpareMemory(0)))).toEqual(before);
  copy.release();
  expect(() => copy.digest(0)).toThrow('no such record');
  expect(memory.take(200_000)[0]).not.toBe(0xff);
  copy.release();
  expect(memory.take(1).length).toBeLessThan(200_000);
});

test('seals are not looked at without keys, and not regular with other ones', () => {
  const bytes = toBytes(chain.slice(0, 2).map(({ seal: _seal, ...entry }) => entry as SentEntry));
  expect(runKernel(new ChainKernel({ ...OPTIONS, keys: new Map() }), bytes).regular).toHaveLength(2);
  expect(runKernel(new ChainKernel(OPTIONS), bytes).regular).toHaveLength(0);
  const other = new ChainKernel({ ...OPTIONS, keys: new Map([['k2', Buffer.from(SEAL_KEY)]]) });
  expect(runKernel(other, toBytes(chain)).regular).toHaveLength(0);
});

test('an entry may be as large as the input, and no larger', () => {
  const kernel = new ChainKernel(OPTIONS);
  const entryOf = (bytes: number) => {
    const empty = entryAfter(null, { metadata: '' });
    const { length } = Buffer.from(JSON.stringify(empty));
    return toBytes([entryAfter(null, { metadata: 'x'.repeat(bytes - length) })]);
  };
  expect(runKernel(kernel, entryOf(kernel.input.length)).regular).toHaveLength(1);
  expect(runKernel(kernel, entryOf(kernel.input.length + 1))).toMatchObject({
    stop: 'irregular',
    regular: { length: 0 },
  });
});

test('after close nothing is left of the keys, and the memory serves another chain', () => {
  // What depends on the key shows as a difference between two of them.
  const memoryAfter = (key: string) => {
    const kernel = new ChainKernel({ ...OPTIONS, keys: new Map([['k1', Buffer.from(key)]]) });
    const during = Buffer.from(kernel.input.buffer.slice(0));
    kernel[Symbol.dispose]();
    return { during, after: Buffer.from(kernel.input.buffer.slice(0)), buffer: kernel.input.buffer };
  };
  const [one, other] = [memoryAfter(SEAL_KEY), memoryAfter('another key')];
  expect(other.buffer).toBe(one.buffer);
  expect(one.during.equals(other.during)).toBe(false);
  expect(one.after.equals(other.after)).toBe(true);
  const next = new ChainKernel(OPTIONS);
  expect(next.input.buffer).toBe(one.buffer);
  expect(runKernel(next, toBytes(chain)).regular).toHaveLength(300);
  next[Symbol.dispose]();
  expect(() => runKernel(next, toBytes(chain))).toThrow('closed');
});

test('member names and stream ids that it cannot hold are refused', () => {
  const roles: typeof OPTIONS.roles = { ...OPTIONS.roles, digest: ['ha"sh'] };
  expect(() => new ChainKernel({ ...OPTIONS, roles })).toThrow('is not written as it is');
  expect(() => new ChainKernel({ ...OPTIONS, without: ['x'.repeat(257)] })).toThrow('too long');
  expect(() => new ChainKernel({ ...OPTIONS, streamId: 'x'.repeat(5000) })).toThrow('stream id');
});

test('whatever is mutated, it is regular only where the slow path finds nothing', () => {
  const intact = chain.slice(0, 4);
  const member = fc.constantFrom(...Object.keys(intact[0] ?? {}), 'added', '__proto__', '');
  const value = fc.oneof(
    fc.jsonValue(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: 0, max: 6 }),
    fc.constantFrom('k1', null, [], {}),
  );
  const edit = fc.tuple(fc.nat(3), member, value, fc.boolean()).map(([index, name, written, reseal]) => {
    const edited = Object.fromEntries([...Object.entries(intact[index] ?? {}), [name, written]]) as SentEntry;
    return intact.with(index, reseal ? sealed(edited) : edited);
  });
  let regular = 0;
  fc.assert(
    fc.property(edit, fc.constantFrom(undefined, 1), (entries, space) => {
      const outcome: Outcome = judge(toBytes(entries, space).toString('latin1'));
      regular += outcome.regular.length;
      expect(disagreement(outcome)).toBe(null);
    }),
    { numRuns: 4000 },
  );
  expect(regular).toBeGreaterThan(4000);
});

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { instantiate } from '../../../../src/verifier/decode/wasm/instance.ts';
import { ChainKernel } from '../../../../src/verifier/decode/wasm/kernel.ts';
import { chainOf, type SentEntry } from '../../../support/chain.ts';
import { OPTIONS, runKernel } from './default-chain.ts';

test.each(['sha256', 'sha384', 'sha512'])('%s of every length from 0 to 300, and of some large ones', (name) => {
  const algorithm = ['sha256', 'sha384', 'sha512'].indexOf(name);
  const kernel = instantiate();
  for (const length of [...Array(301).keys(), 4095, 65_536, 999_999]) {
    const bytes = randomBytes(length);
    new Uint8Array(kernel.memory.buffer, kernel.input.value).set(bytes);
    kernel.hash(algorithm, length);
    const digest = Buffer.from(kernel.memory.buffer, kernel.exchange.value, Number(name.slice(3)) / 8).toString('hex');
    expect(digest, `${length} bytes`).toBe(createHash(name).update(bytes).digest('hex'));
  }
});

test('messages of all lengths in all lanes', () => {
  const chain = chainOf(1);
  for (let length = 0; length <= 300; length++) {
    const metadata = 'x'.repeat((length * 7919) % 301);
    chain.push(...chainOf(1, { ...next(chain), metadata }));
  }
  const bytes = Buffer.from(`${chain.map((entry) => JSON.stringify(entry)).join(',')}]`);
  const outcome = runKernel(new ChainKernel(OPTIONS), bytes);
  expect(outcome.regular.map(({ digest }) => digest)).toEqual(chain.map(({ hash }) => hash));
});

function next(chain: readonly SentEntry[]): Partial<SentEntry> {
  return { sequence: chain.length + 1, prev_hash: chain.at(-1)?.hash ?? '', timestamp: chain.at(-1)?.timestamp ?? '' };
}

test('HMAC-SHA-256 with keys of every length from 0 to 300, several of them in one chain', () => {
  const given = new Map([...Array(301).keys()].map((length) => [`key-"${length}"`, randomBytes(length)] as const));
  for (let from = 0; from <= 300; from += 43) {
    const keys = new Map([...given].slice(from, from + 43));
    const chain: SentEntry[] = [];
    for (const [seal_key_id, key] of keys) {
      const [entry] = chainOf(1, chain.length === 0 ? { seal_key_id } : { ...next(chain), seal_key_id });
      if (entry === undefined) throw new Error('a chain of one has one entry');
      chain.push({ ...entry, seal: createHmac('sha256', key).update(entry.hash).digest('hex') });
    }
    const run = (entries: SentEntry[]) =>
      runKernel(new ChainKernel({ ...OPTIONS, keys }), Buffer.from(`${JSON.stringify(entries).slice(1)}`));
    expect(run(chain)).toMatchObject({ stop: 'closed', regular: { length: keys.size } });
    const wrong = chain.with(20, { ...chain[20], seal: chain[19]?.seal ?? '' } as SentEntry);
    expect(run(wrong)).toMatchObject({ stop: 'irregular', regular: { length: 20 } });
  }
});

import { randomFrom } from '../../../fuzz/packages.ts';
import { ALL_DIALECTS } from '../../../support/dialects.ts';
import { Mutations } from './mutations.ts';

/**
 * Mutates entries of all dialects, byte by byte and token by token, and compares what the two decoders make of them, for as long as is asked.
 *
 *     node test/verifier/decode/wasm/fuzz.ts [SECONDS [SEED]]
 */
const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const random = randomFrom(seed);
const dialects = ALL_DIALECTS.filter(({ contract }) => contract.program !== null);
const totals: Record<string, Mutations['counts']> = {};
const end = performance.now() + seconds * 1000;
while (performance.now() < end)
  for (const dialect of dialects) {
    const mutations = new Mutations(dialect, random);
    for (let count = 0; count < 200; count++) {
      const reason = mutations.next();
      if (reason === null) continue;
      process.stderr.write(`seed ${seed}: ${reason}\n`);
      process.exit(1);
    }
    const sum = totals[dialect.name] ?? { mutations: 0, accepted: 0, readable: 0, split: 0 };
    totals[dialect.name] = sum;
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += mutations.counts[key];
  }
process.stdout.write(`seed ${seed}, ${seconds} s:\n`);
for (const [name, counts] of Object.entries(totals)) process.stdout.write(`${name}: ${JSON.stringify(counts)}\n`);
